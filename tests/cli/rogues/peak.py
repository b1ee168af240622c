"""Measures a command: peak.py FILE COMMAND…

FILE gets its peak memory in KiB, or that of its largest child process; FILE.time gets its processor time in seconds.
"""

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
