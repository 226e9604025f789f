"""A process that outlives a cluster of this machine by a moment: it ends what is left of it and deletes its folder.

Ray's agents go on when the driver was killed. This waits for the end of its stdin, which comes with the driver's end,
however that comes; every process that inherited the folder's name in its environment belongs to the cluster.
"""

import os
import shutil
import signal
import sys
import time

SESSION = "MODGROK_RAY_SESSION"
"""The variable that holds the folder's name."""
GRACE = 3.0
"""Seconds in which processes may end by themselves."""


def belonging(folder: str) -> list[int]:
    """The processes of a cluster, without this one."""
    entry = f"{SESSION}={folder}".encode()
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if entry in file.read().split(b"\0") and int(name) != os.getpid():
                    found.append(int(name))
        except OSError:
            continue
    return found


def reap(folder: str) -> None:
    """Ends the processes of a cluster whose driver has ended, and deletes its folder."""
    late = time.monotonic() + GRACE
    while (left := belonging(folder)) and time.monotonic() < late:
        time.sleep(0.1)
    for process in left:
        try:
            os.kill(process, signal.SIGKILL)
        except OSError:
            continue
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    reap(sys.argv[1])
