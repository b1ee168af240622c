"""Runs a command, and writes down how much memory it, or what it waited for, had at most: peak.py FILE COMMAND…"""

import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
sys.exit(status)
