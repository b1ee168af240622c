"""Runs a command on a pseudo-terminal, and copies its output: terminal.py COMMAND ARGUMENT…"""

import os
import pty
import sys
import termios

child, terminal = pty.fork()
if child == 0:
    modes = termios.tcgetattr(1)
    modes[1] &= ~termios.OPOST
    termios.tcsetattr(1, termios.TCSANOW, modes)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        shown = os.read(terminal, 65536)
    except OSError:
        break
    if not shown:
        break
    sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
