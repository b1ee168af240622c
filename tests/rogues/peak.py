"""Runs a command, and writes the most memory that it, or anything that it waited for, had at a time: peak.py FILE COMMAND…"""

import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
with open(sys.argv[1], "w") as file:
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=file)
sys.exit(status)
