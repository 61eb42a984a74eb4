"""Confines a child process that reads untrusted input: without root, capabilities, or connections.

A child that root started changes to the account `nobody`. The child has no capabilities and can gain none.

`confine` is for our own code, which can't open sockets, send signals or run programs (unless it is allowed to), so that
compromised code reaches neither the database nor the network; sockets and files that are already open stay open.
`core/isolation` confines a program of others in the same way. `confine_program` is for programs that create sockets:
they may run programs and create sockets, but not connect them. `confine_daemon` is for a daemon in a root folder and a
network of its own (`core/private_root`), `confine_server` for one that only listens.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import resource
import signal
import struct
from collections.abc import Mapping, Sequence

NOBODY = 65534

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522

# linux/seccomp.h and linux/bpf_common.h
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _SIXTH_ARGUMENT_OFFSET = 0, 4, 56  # in struct seccomp_data
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # deny: EPERM
_X32 = 0x40000000  # the same system calls with other numbers

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # linux/audit.h
_Calls = Mapping[str, tuple[int, ...]]  # system call numbers by machine architecture
# ptrace, process_vm_readv, process_vm_writev, io_uring_setup, bpf, unshare, setns, mount, keyctl, userfaultfd,
# perf_event_open
_DENIED_TO_ALL: _Calls = {
    "x86_64": (101, 310, 311, 425, 321, 272, 308, 165, 250, 323, 298),
    "aarch64": (117, 270, 271, 425, 280, 97, 268, 40, 219, 282, 241),
}
_CONNECT: _Calls = {"x86_64": (42,), "aarch64": (203,)}
_CONNECTIONS: _Calls = {"x86_64": (42, 50), "aarch64": (203, 201)}  # connect, listen
# socket, socketpair, bind, kill, tkill, tgkill, rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_send_signal
_SOCKETS_AND_SIGNALS: _Calls = {
    "x86_64": (41, 53, 49, 62, 200, 234, 129, 297, 424),
    "aarch64": (198, 199, 200, 129, 130, 131, 138, 240, 424),
}
_EXECUTE: _Calls = {"x86_64": (59, 322), "aarch64": (221, 281)}  # execve, execveat
_SEND: _Calls = {"x86_64": (46, 307), "aarch64": (211, 269)}  # sendmsg, sendmmsg
_SENDTO = {"x86_64": 44, "aarch64": 206}
_NETLINK_ADDRESS_SIZE = 12  # of the address to which getifaddrs(3) sends


def has_call_filter() -> bool:
    """Whether `confine` can deny system calls on this machine's architecture."""
    return platform.machine() in _ARCHITECTURES


def confine(memory: int, *, account: tuple[int, int] = (NOBODY, NOBODY), may_execute: bool = False) -> None:
    """Confine this process irrevocably. Call it after all imports and before starting threads.

    `memory`: the limit of its address space in bytes. `account`: the user and group ID that replace root.
    `may_execute`: it may run programs, which are confined like it. Raises OSError if the kernel refuses.
    """
    denied = (_CONNECTIONS, _SOCKETS_AND_SIGNALS)
    _confine(memory, denied if may_execute else (*denied, _EXECUTE), account)


def confine_program(memory: int, cpu_seconds: int, file_bytes: int, processes: int) -> None:
    """Confine this process irrevocably before it runs another program. Limits: address space, CPU time (each per
    process), the size of a file, and the number of processes of the account `nobody`. OSError.
    """
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_NPROC, (processes, processes))
    _confine(memory, (_CONNECTIONS, _SEND), (NOBODY, NOBODY))


def confine_daemon(account: tuple[int, int]) -> None:
    """Confine this process irrevocably before it becomes a daemon of this account, which may listen and connect."""
    _confine(resource.RLIM_INFINITY, (), account)


def confine_server(account: tuple[int, int]) -> None:
    """Confine this process irrevocably before it becomes a server of this account, which may listen but not connect."""
    _confine(resource.RLIM_INFINITY, (_CONNECT,), account)


def _confine(memory: int, denied: Sequence[_Calls], account: tuple[int, int]) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.geteuid() == 0:
        os.setgroups([])
        user, group = account
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    _drop_capabilities(library)
    _prctl(library, _PR_SET_DUMPABLE, 0)  # other processes of the account can't read its memory
    _prctl(library, _PR_SET_NO_NEW_PRIVS, 1)
    _deny_calls(library, denied)


def limit_cpu_time(seconds: int) -> None:
    """Allow this process `seconds` more of CPU time; then the kernel kills it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime) + seconds, hard))


def limit_capabilities(kept: Sequence[int]) -> None:
    """Give up all capabilities but these (linux/capability.h, below 32), irrevocably also for programs that this
    process runs as root. OSError.
    """
    library = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the same for capabilities from 32 on
    _check(library.capget(header, sets))
    mask = sum(1 << capability for capability in kept)
    limited = (ctypes.c_uint32 * 6)(sets[0] & mask, sets[1] & mask)
    _prctl(library, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    _check(library.capset(header, limited))
    _prctl(library, _PR_SET_NO_NEW_PRIVS, 1)  # else a program that root runs gets all of them again


def end_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent, the process `parent`, ends. Call it after `confine`, because a
    change of the account cancels it.
    """
    _prctl(ctypes.CDLL(None, use_errno=True), _PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        raise ProcessLookupError("the parent has ended")


def _drop_capabilities(library: ctypes.CDLL) -> None:
    _prctl(library, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _check(library.capset(header, (ctypes.c_uint32 * 6)()))


def _deny_calls(library: ctypes.CDLL, denied: Sequence[_Calls]) -> None:
    """Install a seccomp filter, on the machine architectures of `_ARCHITECTURES` only."""
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        return
    numbers = [number for calls in (_DENIED_TO_ALL, *denied) for number in calls[machine]]
    count = len(numbers)
    program = [
        _instruction(_LOAD, value=_ARCHITECTURE_OFFSET),
        _instruction(_EQUAL, skip_if_true=1, value=_ARCHITECTURES[machine]),
        _instruction(_RETURN, value=_KILL),
        _instruction(_LOAD, value=_NUMBER_OFFSET),
        _instruction(_AT_LEAST, skip_if_true=count + 5, value=_X32),
        *(
            _instruction(_EQUAL, skip_if_true=count + 4 - position, value=number)
            for position, number in enumerate(numbers)
        ),
        # A message to an address, which is the sixth argument's size, may go only to the kernel.
        _instruction(_EQUAL, skip_if_false=3, value=_SENDTO[machine]),
        _instruction(_LOAD, value=_SIXTH_ARGUMENT_OFFSET),
        _instruction(_EQUAL, skip_if_true=1, value=0),
        _instruction(_EQUAL, skip_if_false=1, value=_NETLINK_ADDRESS_SIZE),
        _instruction(_RETURN, value=_ALLOW),
        _instruction(_RETURN, value=_DENY),
    ]
    code = ctypes.create_string_buffer(b"".join(program))
    filter_program = ctypes.create_string_buffer(struct.pack("HL", len(program), ctypes.addressof(code)))
    _check(
        library.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_void_p(ctypes.addressof(filter_program)), 0, 0)
    )


def _instruction(code: int, *, skip_if_true: int = 0, skip_if_false: int = 0, value: int) -> bytes:
    """A BPF instruction. `skip_if_true`: how many instructions to skip if the comparison is true."""
    return struct.pack("HBBI", code, skip_if_true, skip_if_false, value)


def _prctl(library: ctypes.CDLL, option: int, value: int) -> None:
    _check(library.prctl(option, value, 0, 0, 0))


def _check(result: int) -> None:
    if result != 0:
        error_number = ctypes.get_errno()
        raise OSError(error_number, os.strerror(error_number))
