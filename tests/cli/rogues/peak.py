"""Runs a command, and writes down how much memory it, or what it waited for, had at most, and in FILE.time how many
seconds of a processor it took: peak.py FILE COMMAND…"""

import resource
import subprocess
import sys

status = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    print(used.ru_maxrss, file=file)
with open(sys.argv[1] + ".time", "w") as file:
    print(used.ru_utime + used.ru_stime, file=file)
sys.exit(status)
