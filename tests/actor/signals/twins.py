"""Makes processes with pids that were another's a moment before.

Reads a command a line, answers each with a line:
  first       starts a process; answers its pid
  twin PID    ends the process PID, waits for it, starts another with the same pid; answers how the first
              ended, and the new one's pid or the error's name
  term PID    sends TERM, as a signal to a bare pid would
  end PID     ends the process PID, waits for it; answers how it ended
How a process ended is the number of the signal that ended it: 10 (USR1) where nobody but this has.
"""

import ctypes
import errno
import os
import signal
import sys

CLONE3 = 435
libc = ctypes.PyDLL(None, use_errno=True)


class CloneArgs(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in (
            "flags pidfd child_tid parent_tid exit_signal stack stack_size tls set_tid set_tid_size"
        ).split()
    ]


def clone(pid=None):
    """Forks, with a pid of choice; returns the pid, or the negative errno."""
    args = CloneArgs(exit_signal=signal.SIGCHLD)
    if pid is not None:
        wanted = (ctypes.c_int * 1)(pid)
        args.set_tid = ctypes.addressof(wanted)
        args.set_tid_size = 1
    parent = os.getpid()
    child = libc.syscall(CLONE3, ctypes.byref(args), ctypes.sizeof(args))
    if child == 0:
        # It ends with its parent, whatever happens; it must never read the parent's commands.
        libc.prctl(1, signal.SIGKILL)
        while os.getppid() == parent:
            libc.pause()
        os._exit(0)
    return child if child > 0 else -ctypes.get_errno()


def end(pid):
    os.kill(pid, signal.SIGUSR1)
    return os.WTERMSIG(os.waitpid(pid, 0)[1])


for line in sys.stdin:
    command, *pids = line.split()
    if command == "first":
        print(clone(), flush=True)
    elif command == "twin":
        how = end(int(pids[0]))
        twin = clone(int(pids[0]))
        print(how, twin if twin > 0 else errno.errorcode[-twin], flush=True)
    elif command == "term":
        os.kill(int(pids[0]), signal.SIGTERM)
        print("sent", flush=True)
    elif command == "end":
        print(end(int(pids[0])), flush=True)
