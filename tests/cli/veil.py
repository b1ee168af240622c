"""A server behind a veil: veil.py WAY PROGRAM [ARGUMENT...] hands lines on, and puts something unreadable into each that
the program answers with."""

import json
import subprocess
import sys
import threading

VALUES = {
    "nothing": "0",
    "number": "1e999",
    "levels": "[" * 1200 + "]" * 1200,
    "length": '"' + "x" * 8_400_000 + '"',
    "surrogate": '"\\ud800"',
    "twice": '{"a": 0, "a": 1}',
}

way, *command = sys.argv[1:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def hand_on():
    for line in sys.stdin.buffer:
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()


def veiled(line):
    if way == "mark":
        return b"\xef\xbb\xbf" + line
    if way == "bytes":
        return line.replace(b'"jsonrpc"', b'"veil":"\xff","jsonrpc"', 1)
    message = json.loads(line)
    for key in ("result", "params"):
        if isinstance(message.get(key), dict):
            message[key].setdefault("_meta", {})["casebook.example/veil"] = "VEIL"
    if "error" in message:
        message["error"]["data"] = "VEIL"
        # Where an error has to be found at all, each has a code that is wrong.
        message["error"]["code"] = "x"
    return json.dumps(message).replace('"VEIL"', VALUES[way]).encode() + b"\n"


threading.Thread(target=hand_on, daemon=True).start()
for line in server.stdout:
    sys.stdout.buffer.write(veiled(line))
    sys.stdout.buffer.flush()
sys.exit(server.wait())
