"""Starts the program with the same arguments: `mcp-casebook`, `uvx mcp-casebook` or `python -m mcp_casebook`."""

import os
import subprocess
import sys

from mcp_casebook import find_casebook


def main() -> None:
    """Replaces this process with the program; on Windows, waits for it and ends with its status."""
    try:
        program = find_casebook()
    except FileNotFoundError as error:
        sys.exit(f"casebook: {error}")
    arguments = [program, *sys.argv[1:]]
    if os.name != "nt":
        os.execv(program, arguments)
    child = subprocess.Popen(arguments)
    while True:
        try:
            sys.exit(child.wait())
        except KeyboardInterrupt:
            # Windows sends Ctrl-C to the program as well, which then ends by itself.
            continue


if __name__ == "__main__":
    main()
