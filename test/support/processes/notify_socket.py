"""Listens for the reports of a service to its manager, and prints each as a line of JSON."""

import json
import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as reports:
    reports.bind(sys.argv[1])
    print(json.dumps("listening"), flush=True)
    while True:
        print(json.dumps(reports.recv(65536).decode()), flush=True)
