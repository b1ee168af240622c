"""A proxy in front of an adapter: proxy.py MODE PROGRAM [ARGUMENT…]

The proxy forwards each line to PROGRAM, and its answer back, unless a fixture has a tool named `lose`:

    dies      writes to standard error and exits
    mumbles   answers with a line that is not JSON
    hangs     does not answer
    forgets   serves once another tool in its place, and creates the file `forgotten`
"""

import json
import os
import subprocess
import sys

mode, *command = sys.argv[1:]
adapter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def is_lost(line):
    if mode == "forgets" and os.path.exists("forgotten"):
        return False
    fixture = json.loads(line).get("serve", {}).get("fixture", {})
    return any(tool.get("name") == "lose" for tool in fixture.get("tools", []))


def forward(line):
    adapter.stdin.write(line)
    adapter.stdin.flush()
    print(adapter.stdout.readline(), end="", flush=True)


for line in sys.stdin:
    if not is_lost(line):
        forward(line)
    elif mode == "dies":
        sys.exit("the letter was lost on the way")
    elif mode == "mumbles":
        print("the letter was lost", flush=True)
    elif mode == "forgets":
        open("forgotten", "w").close()
        forward(line.replace('"lose"', '"lost"'))

adapter.stdin.close()
adapter.wait()
