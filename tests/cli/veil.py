"""A proxy that makes the answers of a server over stdio unreadable: veil.py WAY PROGRAM [ARGUMENT...]

It also replaces the name of each tool and the code of each error with invalid ones.
"""

import json
import os
import subprocess
import sys
import threading

VALUES = {
    "bytes": b'"\xff"',
    "nothing": b"0",
    "number": b"1e999",
    "levels": b"[" * 1200 + b"]" * 1200,
    "length": b'"' + b"x" * 8_400_000 + b'"',
    "surrogate": b'"\\ud800"',
    "twice": b'{"a": 0, "a": 1}',
}

way, *command = sys.argv[1:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def forward():
    for line in sys.stdin.buffer:
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()


def veiled(line):
    message = json.loads(line)
    for key in ("result", "params"):
        if isinstance(message.get(key), dict):
            message[key].setdefault("_meta", {})["casebook.example/veil"] = "VEIL"
    if "error" in message:
        message["error"]["data"] = "VEIL"
        message["error"]["code"] = "x"
    for tool in message.get("result", {}).get("tools", []):
        tool["name"] = "bad name!"
    return json.dumps(message).encode().replace(b'"VEIL"', VALUES[way]) + b"\n"


threading.Thread(target=forward, daemon=True).start()
for line in server.stdout:
    sys.stdout.buffer.write(veiled(line))
    sys.stdout.buffer.flush()
os._exit(server.wait())
