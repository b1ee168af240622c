"""The program casebook, which tests implementations of the Model Context Protocol."""

import os
import sys
import sysconfig


def find_casebook() -> str:
    """Returns the path of the program that was installed with this module."""
    name = "casebook" + (".exe" if os.name == "nt" else "")
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else os.name + "_user"
    # Below `pip install --target DIR`, the program is beside the module.
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user), beside]
    for folder in folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise FileNotFoundError(f"{name} is not in {', '.join(folders)}: install mcp-casebook again")
