"""Adopts whatever a test starts through it, waits for it, and takes it down when its input ends: also
where the test was killed. Reads a JSON object a line, prints the pid of each server that has started."""

import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def start(words, env):
    """Starts a server on socket pairs, and returns it with what it writes into once it is there. Of a socket the
    kernel says that nobody is at its other end; of a pipe only who may look into every process can."""
    stdin, writer = (end.detach() for end in socket.socketpair())
    reader, stdout = (end.detach() for end in socket.socketpair())
    server = subprocess.Popen(words, stdin=stdin, stdout=stdout, env={**os.environ, **env})
    os.close(stdin)
    os.close(stdout)
    return server, writer, reader


def wait_until_ready(reader):
    if os.read(reader, 64) != b"ready\n":
        raise SystemExit("the server ended before it was ready")


def client(words, env):
    """Starts a server, sees it ready, and goes: nobody is left on the server's wire."""
    server, _, reader = start(words, env)
    wait_until_ready(reader)
    print(server.pid, flush=True)
    os._exit(0)


def supervisor(words, env):
    """Starts a server again whenever it has ended; holds nothing of its wire."""
    while True:
        server, writer, reader = start(words, env)
        wait_until_ready(reader)
        os.close(writer)
        os.close(reader)
        print(server.pid, flush=True)
        server.wait()


def play(order):
    if os.fork() == 0:
        for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        os.setsid()
        {"client": client, "supervisor": supervisor}[order["by"]](order["words"], order["env"])


def reap():
    """Waits for whoever has ended; returns whether somebody is left."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return True
        except ChildProcessError:
            return False


def children():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % pid) as stat:
                parent = stat.read().rsplit(")", 1)[1].split()[1]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(parent) == os.getpid():
            found.append(int(pid))
    return found


def take_down():
    """Children keep their pid until they are waited for here: no stranger is hit."""
    while True:
        for child in children():
            os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Whoever runs the tests may block signals: that is inherited.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    woken, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # Its work begins where the test ends, however that comes about.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.set_wakeup_fd(waker)
    rest = b""
    while True:
        readable, _, _ = select.select([0, woken], [], [])
        if woken in readable:
            os.read(woken, 512)
            reap()
        if 0 in readable:
            more = os.read(0, 65536)
            if not more:
                return take_down()
            *lines, rest = (rest + more).split(b"\n")
            for line in lines:
                play(json.loads(line))


main()
