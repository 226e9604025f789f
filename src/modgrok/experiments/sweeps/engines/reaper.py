"""A process that outlives a cluster of this machine by a moment: it ends what is left of it and deletes its folder.

Ray's agents go on when the driver was killed. This waits for the end of its stdin, which comes with the driver's end,
however that comes; every process that inherited the folder's name in its environment, or has a file of the folder open
(an agent's title overwrites its environment), belongs to the cluster.
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
    own = str(os.getpid())
    return [int(name) for name in os.listdir("/proc") if name.isdecimal() and name != own and _belongs(name, folder)]


def _belongs(process: str, folder: str) -> bool:
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            if f"{SESSION}={folder}".encode() in file.read().split(b"\0"):
                return True
        opened = f"/proc/{process}/fd"
        return any(os.readlink(f"{opened}/{name}").startswith(f"{folder}/") for name in os.listdir(opened))
    except OSError:
        return False


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
