"""Starts a command the way systemd starts a socket-activated service, holding its listening sockets,
and restarts it whenever it exits, until standard input is closed.

Usage: hold_sockets.py NAME[:NAME] COMMAND [WORD ...]; prints one line of JSON: the port of each
name.
"""

import json
import os
import signal
import socket
import sys
import threading

names = sys.argv[1].split(":")
sockets = [socket.create_server(("127.0.0.1", 0), backlog=1024) for _ in names]
print(json.dumps({name: each.getsockname()[1] for name, each in zip(names, sockets)}), flush=True)
child = None
ending = False


def end():
    global ending
    sys.stdin.read()
    ending = True
    os.kill(child, signal.SIGKILL)


def become_command():
    for i, each in enumerate(sockets):
        os.dup2(each.fileno(), 100 + i)  # clear of the descriptors assigned below
    for i in range(len(sockets)):
        os.dup2(100 + i, 3 + i)
    environment = {
        **os.environ,
        "LISTEN_PID": str(os.getpid()),
        "LISTEN_FDS": str(len(names)),
        "LISTEN_FDNAMES": ":".join(names),
    }
    os.execvpe(sys.argv[2], sys.argv[2:], environment)


while not ending:
    child = os.fork()
    if child == 0:
        become_command()
    if threading.active_count() == 1:
        threading.Thread(target=end, daemon=True).start()
    os.waitpid(child, 0)
