"""A proxy that breaks the responses of a server over stdio: twist.py WAY PROGRAM [ARGUMENT...]"""

import json
import os
import subprocess
import sys
import threading

way, *command = sys.argv[1:]
server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
failed = False


def forward():
    for line in sys.stdin.buffer:
        server.stdin.write(line)
        server.stdin.flush()
    server.stdin.close()


def twisted(message):
    global failed
    result = message.get("result", {})
    if "content" in result:
        failed |= result.get("isError", False)
        if way == "content-lost":
            del result["content"]
        if way == "content-of-unknown-type":
            result["content"].append({"type": "video", "data": "", "mimeType": "video/mp4"})
        if way == "content-without-text":
            result["content"].append({"type": "text"})
    if way == "lists-nothing-after-an-error" and failed and "tools" in result:
        del message["result"]
        message["error"] = {"code": -32603, "message": "broken"}
    return message


threading.Thread(target=forward, daemon=True).start()
for line in server.stdout:
    sys.stdout.buffer.write(json.dumps(twisted(json.loads(line))).encode() + b"\n")
    sys.stdout.buffer.flush()
os._exit(server.wait())
