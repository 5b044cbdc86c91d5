"""A server in name: says that it is there, and stays, whatever becomes of its wire."""

import os
import signal
import sys

ROLE = sys.argv[1]
if ROLE == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if ROLE == "another":
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
else:
    # Becomes another program, as far as its command line tells.
    signal.signal(
        signal.SIGUSR1,
        lambda *_: os.execv(sys.executable, [sys.executable, sys.argv[0], "another"]),
    )
    print("ready", flush=True)
while True:
    signal.pause()
