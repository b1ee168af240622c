"""An adapter in front of another one: proxy.py MODE PROGRAM [ARGUMENT…].

Every line is handed on to PROGRAM and its answer back, but where a fixture has a tool named `lose`:

    dies      says its last words and exits
    mumbles   answers with a line that is no JSON
    hangs     answers nothing
"""

import json
import subprocess
import sys

mode, *command = sys.argv[1:]
adapter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def is_lost(line):
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

adapter.stdin.close()
adapter.wait()
