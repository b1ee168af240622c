"""Tests the packages in a folder as their users get them: installed from files into empty folders, with no Rust on the
PATH and no network.

    tests/distribution/run makes the packages and runs this file

Each test installs a package with the usual program of its users, and runs the casebook on the server of this folder, once
as it is and once with a mistake that the run must find.
"""

import contextlib
import csv
import base64
import hashlib
import http.server
import io
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import tomllib
import unittest
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ROOT / "target/distribution").resolve()
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
# No program may take longer than this, in seconds.
LIMIT = 300
# A small script must answer in this time, in seconds.
SOON = 60
# The programs that an installation needs, and no others: there is no Rust, compiler or download program among them.
SYSTEM = ["sh", "bash", "env", "cat", "uname", "sed", "dirname", "basename", "readlink", "mkdir", "rm", "cp", "mv", "chmod"]


def npm_of_this_machine() -> pathlib.Path:
    """The npm package with the program of this machine."""
    return next(path for path in OUT.glob("mcp-casebook-*.tgz") if path.name != f"mcp-casebook-{VERSION}.tgz")


# A program in place of casebook: repeats its argument and its input, names signals, and ends with the second one.
FAKE = """
let signals = 0;
for (const name of ["SIGINT", "SIGTERM"]) {
  process.on(name, () => {
    console.log(name);
    if (++signals === 2) process.exit(7);
  });
}
process.stdin.once("data", (data) => console.log(`${process.argv[2]}: ${String(data).trim()}`));
"""


class Empty(unittest.TestCase):
    """An empty folder, an empty home, and a PATH without Rust."""

    def setUp(self) -> None:
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.enterContext(contextlib.chdir(self.folder))
        for name in ["home", "path", "here"]:
            (self.folder / name).mkdir()

    def environment(self, *programs: str) -> dict[str, str]:
        """The variables of a machine that has these programs."""
        for name in [*SYSTEM, *programs]:
            found, link = shutil.which(name), self.folder / "path" / name
            if found and not link.is_symlink():
                # Not resolved: a program can depend on the name by which it is called.
                link.symlink_to(found)
        path = str(self.folder / "path")
        for name in ["cargo", "rustc", "rustup"]:
            self.assertIsNone(shutil.which(name, path=path))
        return {"PATH": path, "HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "home")}

    def start(self, command: list, environment: dict[str, str], status: int = 0) -> str:
        """Runs a command in the folder `here`, and gives its output."""
        done = subprocess.run(
            command, cwd=self.folder / "here", env=environment, capture_output=True, text=True, timeout=LIMIT
        )
        self.assertEqual(done.returncode, status, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def target(self, name: str, *arguments: str) -> str:
        """Writes the target of the server of this folder, and gives its path."""
        node = shutil.which("node")
        self.assertIsNotNone(node, "the server needs node")
        folder = self.folder / "here" / name
        folder.mkdir(exist_ok=True)
        command = json.dumps([os.path.realpath(node), str(HERE / "server.mjs"), *arguments])
        (folder / "target.toml").write_text(
            f'title = "Adder"\nkind = "fixed"\ncommand = {command}\n\n[claims]\nrevisions = ["2025-06-18", "2025-11-25"]\n'
        )
        return f"./{name}"

    def runs_the_casebook(self, command: list, environment: dict[str, str]) -> None:
        """Runs the casebook by a command on the server, with and without a mistake."""
        self.assertIn(f"casebook {VERSION}", self.start([*command, "--version"], environment))
        fine = self.start([*command, "run", self.target("adder")], environment)
        self.assertRegex(fine, r"as expected: \d+ tests of adder")
        wrong = self.start([*command, "run", self.target("wrong", "wrong")], environment, status=1)
        self.assertRegex(wrong, r"failed +messages/error-codes-are-integers")


class Offline(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("CASEBOOK_IS_OFFLINE"), "this machine does not allow a network of its own")
    def test_network_is_unreachable(self) -> None:
        with socket.socket() as one, self.assertRaises(OSError) as raised:
            # An address of the range for documentation.
            one.connect(("192.0.2.1", 443))
        self.assertIn("unreachable", str(raised.exception).lower())


class Npm(Empty):
    def npm(self) -> dict[str, str]:
        quiet = {"npm_config_update_notifier": "false", "npm_config_audit": "false", "npm_config_fund": "false"}
        return {**self.environment("node", "npm", "npx"), **quiet, "npm_config_fetch_retries": "0"}

    def test_npx_from_files_runs_the_casebook(self) -> None:
        packages = [OUT / f"mcp-casebook-{VERSION}.tgz", npm_of_this_machine()]
        given = [word for package in packages for word in ("--package", str(package))]
        self.runs_the_casebook(["npx", "--yes", "--offline", *given, "--", "casebook"], self.npm())

    def test_npx_from_a_registry_fetches_one_platform(self) -> None:
        with Registry() as registry:
            environment = {**self.npm(), "npm_config_registry": registry.address}
            self.runs_the_casebook(["npx", "--yes", f"mcp-casebook@{VERSION}"], environment)
            self.assertEqual(len({path for path in registry.asked if path.endswith(".tgz")}), 2, registry.asked)

    def install(self) -> tuple[pathlib.Path, dict[str, str]]:
        environment = self.npm()
        (self.folder / "here/package.json").write_text("{}")
        packages = [str(OUT / f"mcp-casebook-{VERSION}.tgz"), str(npm_of_this_machine())]
        self.start(["npm", "install", "--offline", "--ignore-scripts", *packages], environment)
        return self.folder / "here/node_modules", environment

    def test_launcher_passes_input_status_and_signals(self) -> None:
        modules, environment = self.install()
        program = npm_program(modules)
        program.unlink()
        program.write_text(f"#!{os.path.realpath(shutil.which('node'))}\n{FAKE}")
        program.chmod(0o755)
        # None of its streams is a terminal, which would send SIGINT to both processes itself.
        launcher = subprocess.Popen(
            [modules / ".bin/casebook", "one two"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        limit = threading.Timer(SOON, os.killpg, [launcher.pid, signal.SIGKILL])
        limit.start()
        self.addCleanup(limit.cancel)
        with launcher:
            launcher.stdin.write("hello\n")
            launcher.stdin.flush()
            self.assertEqual(launcher.stdout.readline(), "one two: hello\n")
            for name in ["SIGINT", "SIGTERM"]:
                launcher.send_signal(getattr(signal, name))
                self.assertEqual(launcher.stdout.readline(), f"{name}\n")
        self.assertEqual(launcher.returncode, 7)

        program.write_text("#!/bin/sh\nkill -9 $$\n")
        self.start([modules / ".bin/casebook"], environment, status=128 + 9)

    def test_launcher_without_platform_package_says_so(self) -> None:
        modules, environment = self.install()
        shutil.rmtree(npm_program(modules).parents[1])
        text = self.start([modules / ".bin/casebook"], environment, status=71)
        self.assertRegex(text, r"^casebook: cannot find the package @mcp-casebook/\w+-\w+: install again, without")

    def test_packages_have_no_scripts(self) -> None:
        for package in OUT.glob("*.tgz"):
            with tarfile.open(package) as archive:
                manifest = json.load(archive.extractfile("package/package.json"))
                self.assertNotIn("scripts", manifest)
                self.assertEqual(manifest["version"], VERSION)
                self.assertTrue(all(member.name.startswith("package/") for member in archive))


def npm_program(modules: pathlib.Path) -> pathlib.Path:
    """The program of the platform's package below node_modules."""
    return next(modules.glob("@mcp-casebook/*/bin/casebook*"))


class Registry:
    """An npm registry on this machine with the packages of the folder."""

    def __enter__(self) -> "Registry":
        self.asked: list[str] = []
        packages = {}
        for file in OUT.glob("*.tgz"):
            with tarfile.open(file) as archive:
                manifest = json.load(archive.extractfile("package/package.json"))
            packages[manifest["name"]] = (manifest, file)
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                registry.asked.append(self.path)
                name = self.path.lstrip("/").replace("%2f", "/").replace("%2F", "/")
                if name in packages:
                    manifest, file = packages[name]
                    digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
                    dist = {"tarball": f"{registry.address}{file.name}", "integrity": f"sha512-{digest}"}
                    versions = {VERSION: {**manifest, "dist": dist}}
                    self.reply(json.dumps({"name": name, "dist-tags": {"latest": VERSION}, "versions": versions}).encode())
                elif (OUT / name).is_file() and "/" not in name:
                    self.reply((OUT / name).read_bytes())
                else:
                    self.send_error(404)

            def reply(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


class Wheel(Empty):
    def setUp(self) -> None:
        super().setUp()
        self.wheel = next(OUT.glob("*.whl"))

    def install(self) -> pathlib.Path:
        """Installs the wheel into an empty environment, and gives the folder of its programs."""
        environment = self.environment()
        self.start([sys.executable, "-m", "venv", "venv"], environment)
        python = self.folder / "here/venv/bin/python"
        self.start([python, "-m", "pip", "--isolated", "install", "--no-index", "--no-cache-dir", self.wheel], environment)
        return python.parent

    def test_wheel_in_an_empty_environment_runs_the_casebook(self) -> None:
        programs = self.install()
        environment = self.environment()
        self.runs_the_casebook([programs / "casebook"], environment)
        # The name that `uvx mcp-casebook` and `pipx run mcp-casebook` start.
        for command in [[programs / "mcp-casebook"], [programs / "python", "-m", "mcp_casebook"]]:
            self.assertIn(f"casebook {VERSION}", self.start([*command, "--version"], environment))
        self.start([programs / "mcp-casebook", "run", "--no-such-option"], environment, status=2)

    def test_command_without_program_says_so(self) -> None:
        programs = self.install()
        (programs / "casebook").unlink()
        text = self.start([programs / "mcp-casebook"], self.environment(), status=1)
        self.assertRegex(text, r"^casebook: casebook is not in .*: install mcp-casebook again")

    def test_record_lists_every_file(self) -> None:
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
            record = next(name for name in names if name.endswith("/RECORD"))
            rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
            self.assertEqual({row[0] for row in rows}, names)
            for name, digest, size in rows:
                if name != record:
                    data = archive.read(name)
                    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                    self.assertEqual((digest, size), (f"sha256={found}", str(len(data))), name)


class Archive(Empty):
    def setUp(self) -> None:
        super().setUp()
        self.archive = next(OUT.glob("*.tar.gz"))
        self.target_name = self.archive.name.removeprefix("mcp-casebook-").removesuffix(".tar.gz")
        # The releases as GitHub has their addresses.
        self.releases = self.folder / "releases"
        for place in ["latest/download", f"download/v{VERSION}"]:
            shutil.copytree(OUT, self.releases / place)

    def script(self, **variables: str) -> dict[str, str]:
        programs = ["curl", "tar", "gzip", "mktemp", "sha256sum", "shasum", "cut"]
        given = {"CASEBOOK_RELEASES": f"file://{self.releases}", "CASEBOOK_TARGET": self.target_name, **variables}
        return {**self.environment(*programs), **given}

    def test_install_script_installs_a_program_that_runs(self) -> None:
        text = self.start(["sh", ROOT / "install.sh"], self.script())
        program = self.folder / "home/.local/bin/casebook"
        self.assertIn(f"installed {program}\nadd {program.parent} to PATH", text)
        self.runs_the_casebook([program], self.environment())
        # Again, by version, into another folder that is on the PATH.
        chosen = {"CASEBOOK_VERSION": f"v{VERSION}", "CASEBOOK_INSTALL_DIR": str(self.folder / "path")}
        self.assertNotIn("add ", self.start(["sh", ROOT / "install.sh"], self.script(**chosen)))
        self.assertEqual((self.folder / "path/casebook").read_bytes(), program.read_bytes())

    def test_damaged_archive_is_not_installed(self) -> None:
        with (self.releases / "latest/download" / self.archive.name).open("ab") as file:
            file.write(b"x")
        text = self.start(["sh", ROOT / "install.sh"], self.script(), status=3)
        self.assertIn("but SHA256SUMS has", text)
        self.assertFalse((self.folder / "home/.local").exists())

    def test_incomplete_script_does_nothing(self) -> None:
        lines = (ROOT / "install.sh").read_text().splitlines(keepends=True)
        for count in range(len(lines)):
            (self.folder / "part.sh").write_text("".join(lines[:count]))
            subprocess.run(["sh", self.folder / "part.sh"], env=self.script(), capture_output=True, timeout=LIMIT)
            self.assertFalse((self.folder / "home/.local").exists(), f"{count} lines install something")

    def test_unknown_platform_and_version_are_named(self) -> None:
        text = self.start(["sh", ROOT / "install.sh"], self.script(CASEBOOK_TARGET="mips-unknown-linux"), status=2)
        self.assertIn("has no archive mcp-casebook-mips-unknown-linux.tar.gz", text)
        text = self.start(["sh", ROOT / "install.sh"], self.script(CASEBOOK_VERSION="0.0.1"), status=1)
        self.assertIn(f"cannot download file://{self.releases}/download/v0.0.1/SHA256SUMS", text)

    def test_platform_is_that_of_the_machine(self) -> None:
        environment = self.script(CASEBOOK_TARGET="", CASEBOOK_RELEASES=f"file://{self.folder}/none")
        (self.folder / "path/uname").unlink()
        (self.folder / "path/uname").write_text("#!/bin/sh\ncase $1 in -s) echo $SYSTEM ;; -m) echo $MACHINE ;; esac\n")
        (self.folder / "path/uname").chmod(0o755)
        for system, machine, text in [
            ("Linux", "riscv64", "no archive for the processor riscv64: build casebook with cargo"),
            ("Plan9", "x86_64", "no archive for Plan9: build casebook with cargo"),
        ]:
            given = {**environment, "SYSTEM": system, "MACHINE": machine}
            self.assertIn(text, self.start(["sh", ROOT / "install.sh"], given, status=2))
        targets = {one["target"] for one in json.loads((ROOT / ".ci/release/platforms.json").read_text())}
        machines = ["Linux x86_64", "Linux aarch64", "Darwin x86_64", "Darwin arm64", "MINGW64_NT-10.0 x86_64"]
        for system, machine in (one.split() for one in machines):
            given = {**environment, "SYSTEM": system, "MACHINE": machine, "CASEBOOK_RELEASES": f"file://{self.releases}"}
            (self.releases / "latest/download/SHA256SUMS").write_text("")
            text = self.start(["sh", ROOT / "install.sh"], given, status=2)
            found = re.search(r"has no archive mcp-casebook-(\S+?)\.(?:tar\.gz|zip):", text)
            self.assertIsNotNone(found, text)
            targets.remove(found[1])
        self.assertEqual(targets, set(), "every platform has a machine")

    def test_archive_has_documents_completions_and_man_pages(self) -> None:
        with tarfile.open(self.archive) as archive:
            names = {name.split("/", 1)[1] for name in archive.getnames()}
        expected = {"casebook", "LICENSE-MIT", "LICENSE-APACHE", "README.md", "completions/_casebook", "man/casebook.1"}
        self.assertLessEqual(expected | {"completions/casebook.fish", "man/casebook-run.1"}, names)
        self.assertFalse({name for name in names if "__" in name}, "hidden commands have no man page")

    def test_binstall_metadata_names_the_archives(self) -> None:
        manifest = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
        metadata = manifest["metadata"]["binstall"]
        values = {"name": manifest["name"], "target": self.target_name, "bin": "casebook"}

        def filled(text: str) -> str:
            suffix = {"archive-suffix": ".tar.gz", "binary-ext": "", "version": VERSION, "repo": "REPO"}
            for key, value in {**values, **suffix}.items():
                text = text.replace(f"{{ {key} }}", value)
            return text

        self.assertEqual(filled(metadata["pkg-url"]), f"REPO/releases/download/v{VERSION}/{self.archive.name}")
        with tarfile.open(self.archive) as archive:
            self.assertIn(filled(metadata["bin-dir"]), archive.getnames())


class Pack(Empty):
    def pack(self, *arguments: object, status: int = 0) -> str:
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1000000000"}
        return self.start([sys.executable, ROOT / ".ci/release/pack", *map(str, arguments)], environment, status)

    def test_same_program_gives_the_same_packages(self) -> None:
        with tarfile.open(next(OUT.glob("*.tar.gz"))) as archive:
            member = next(one for one in archive if one.name.endswith("/casebook"))
            (self.folder / "casebook").write_bytes(archive.extractfile(member).read())
        (self.folder / "casebook").chmod(0o755)
        for out in ["one", "two"]:
            self.pack("program", self.folder / "casebook", out)
            self.pack("npm", out)
        one, two = (sorted((self.folder / "here" / out).iterdir()) for out in ["one", "two"])
        self.assertEqual(len(one), 4)
        self.assertEqual([path.read_bytes() for path in one], [path.read_bytes() for path in two])

    def test_large_program_is_refused(self) -> None:
        (self.folder / "large").write_bytes(bytes(15_000_001))
        text = self.pack("program", self.folder / "large", "out", status=1)
        self.assertIn("has 15,000,001 bytes, more than 15,000,000: build it with `--profile dist`", text)
        self.assertFalse((self.folder / "here/out").exists())

    def test_tag_must_be_the_version(self) -> None:
        self.assertIn(f"expected v{VERSION}", self.pack("notes", "v9.9.9", status=1))
        self.assertIn("is a pre-release", self.pack("notes", f"v{VERSION}-rc.1", status=1))
        heads = [line for line in (ROOT / "CHANGELOG.md").read_text().splitlines() if line.startswith("## ")]
        status = int(not any(line.split()[1] == VERSION for line in heads))
        self.pack("notes", f"v{VERSION}", status=status)

    def test_sums_are_those_of_all_files(self) -> None:
        lines = (OUT / "SHA256SUMS").read_text().splitlines()
        listed = dict(reversed(line.split("  ")) for line in lines)
        files = {path.name: path for path in OUT.iterdir() if path.name != "SHA256SUMS"}
        self.assertEqual(listed, {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()})


if __name__ == "__main__":
    unittest.main(verbosity=2)
