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
    if "tools" in result:
        if way == "list-fails":
            del message["result"]
            message["error"] = {"code": -32603, "message": "broken"}
        elif way == "list-is-null":
            result["tools"] = None
        elif way == "names-are-numbers":
            for place, tool in enumerate(result["tools"]):
                tool["name"] = place
        elif way == "names-lost":
            for tool in result["tools"]:
                del tool["name"]
    return message


def write(text):
    sys.stdout.buffer.write(text.encode() + b"\n")
    sys.stdout.buffer.flush()


if way == "banner":
    write("[INFO] the server is ready")
threading.Thread(target=forward, daemon=True).start()
for line in server.stdout:
    message = json.loads(line)
    write(json.dumps(twisted(message)))
    if way == "line-after-a-list" and "tools" in message.get("result", {}):
        write("listed all tools")
if way == "last-words":
    write("good bye")
os._exit(server.wait())
