"""Freezes the threads with the given name in process PID while the rest of the process runs on.

Usage: stop_thread.py PID NAME; prints `stopped` once all are frozen.
"""

import ctypes
import os
import sys
from pathlib import Path

PTRACE_SEIZE, PTRACE_INTERRUPT, WALL = 0x4206, 0x4207, 0x40000000
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def call(request, thread):
    if ptrace(request, thread, None, None) == -1:
        raise OSError(ctypes.get_errno(), f"thread {thread} can't be stopped")


tasks = Path("/proc", sys.argv[1], "task").iterdir()
threads = [int(task.name) for task in tasks if (task / "comm").read_text().strip() == sys.argv[2]]
assert threads, "there is no such thread"
for thread in threads:
    call(PTRACE_SEIZE, thread)
    call(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WALL)
print("stopped", flush=True)
for thread in threads:
    _, status = os.waitpid(thread, WALL)
    while os.WIFSTOPPED(status):
        _, status = os.waitpid(thread, WALL)
