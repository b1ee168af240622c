"""A proxy in front of an adapter: proxy.py MODE PROGRAM [ARGUMENT…]

The proxy forwards each line to PROGRAM, and its answer back, unless a fixture has a tool named `lose`:

    dies      writes to standard error and exits
    mumbles   answers with a line that is not JSON
    hangs     does not answer
    refuses   answers once that the SDK refuses the fixture, and creates the file `refused`
"""

import json
import os
import subprocess
import sys

mode, *command = sys.argv[1:]
adapter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def is_lost(line):
    if mode == "refuses" and os.path.exists("refused"):
        return False
    fixture = json.loads(line).get("serve", {}).get("fixture", {})
    return any(tool.get("name") == "lose" for tool in fixture.get("tools", []))


for line in sys.stdin:
    if not is_lost(line):
        adapter.stdin.write(line)
        adapter.stdin.flush()
        print(adapter.stdout.readline(), end="", flush=True)
    elif mode == "dies":
        sys.exit("the letter was lost on the way")
    elif mode == "mumbles":
        print("the letter was lost", flush=True)
    elif mode == "refuses":
        open("refused", "w").close()
        refused = {"type": "Closed", "message": "the door sticks"}
        print(json.dumps({"id": json.loads(line)["id"], "refused": refused}), flush=True)

adapter.stdin.close()
adapter.wait()
