"""Prints the releases of a package and their dates, as pip's index has them: `releases.py PACKAGE`.

It runs before there is a virtual environment, with the standard library and pip alone.
"""

import json
import subprocess
import sys
from contextlib import suppress
from typing import Any

from pip._internal.commands import create_command
from pip._vendor.packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)

Releases = dict[str, str | None]


def main(package: str) -> None:
    print(json.dumps(dated(package) or undated(package)))


def dated(package: str) -> Releases:
    """Returns the first upload of each release, if the index answers with JSON (PEP 691 and 700).

    pip gives the address of the index and the session, with the user's own certificates, proxies and passwords.
    """
    command: Any = create_command("download")
    options, _ = command.parse_args([])
    with command.main_context():
        session = command.get_default_session(options)
        accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
        response = session.get(f"{options.index_url.rstrip('/')}/{package}/", headers=accept)
    if not response.ok or "json" not in response.headers["Content-Type"]:
        return {}
    found: Releases = {}
    for file in response.json()["files"]:
        # Nobody gets a release that was yanked without asking for it.
        if not file.get("yanked"):
            with suppress(InvalidSdistFilename, InvalidWheelFilename):
                version = version_of(file["filename"])
                found[version] = min(filter(None, (found.get(version), file.get("upload-time"))), default=None)
    return found


def version_of(filename: str) -> str:
    if filename.endswith(".whl"):
        return str(parse_wheel_filename(filename)[1])
    return str(parse_sdist_filename(filename)[1])


def undated(package: str) -> Releases:
    """Returns the releases that `pip index versions` prints, whose dates are unknown."""
    command = [sys.executable, "-m", "pip", "index", "versions", package]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    listed = next(line for line in printed.splitlines() if line.startswith("Available versions:"))
    return {version.strip(): None for version in listed.partition(":")[2].split(",")}


if __name__ == "__main__":
    main(*sys.argv[1:])
