"""A proxy that manipulates the answers of a server over stdio: between.py MANIPULATION PROGRAM [ARGUMENT...]

Without `--stdio-server` among the arguments, PROGRAM is an adapter, and the proxy changes nothing.
"""

import json
import os
import subprocess
import sys
import threading

manipulation, *command = sys.argv[1:]
if "--stdio-server" not in command:
    os.execv(command[0], command)

server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def forward():
    for line in sys.stdin.buffer:
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()


def changed(message):
    """The lines to write instead of a message."""
    result = message.get("result", {})
    if manipulation.startswith("line "):
        return [manipulation[5:], message]
    if manipulation.startswith("error ") and "error" in message:
        return [{**message, "error": json.loads(manipulation[6:])}]
    if manipulation.startswith("cursor") and "tools" in result:
        return [{**message, "result": {**result, "nextCursor": json.loads(manipulation[7:])}}]
    if manipulation.startswith("shadow") and "tools" in result:
        bare = [{**tool, "inputSchema": {"type": "object"}} for tool in result["tools"]]
        wrong = {**message, "result": {**result, "tools": bare}}
        if manipulation == "shadow notification":
            return [{"jsonrpc": "2.0", "method": "notifications/message", "result": result}, wrong]
        return [{**message, "id": 4711}, wrong]
    if manipulation == "leave" and "content" in result:
        return [{**message, "result": {"content": 7}}]
    return [message]


threading.Thread(target=forward, daemon=True).start()
for line in server.stdout:
    for one in changed(json.loads(line)):
        text = one if isinstance(one, str) else json.dumps(one)
        if manipulation == "unended" and '"content"' in text:
            os.write(1, text.encode())
            os._exit(0)
        os.write(1, text.encode() + b"\n")
if manipulation == "leave":
    print(json.dumps({"cannot": "tell"}), file=sys.stderr, flush=True)
    os._exit(3)
os._exit(server.wait())
