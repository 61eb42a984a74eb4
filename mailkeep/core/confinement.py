"""Confines a child process that reads untrusted input: without root, capabilities, new sockets or other programs.

A child that root started changes to the account `nobody`. The child has no capabilities and can gain none. It cannot
open sockets or run programs, so compromised code reaches neither the database nor the network. Sockets and files that
are already open stay open.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import resource
import struct

NOBODY = 65534

_PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 4, 22, 38, 47, 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION = 0x20080522

# linux/seccomp.h and linux/bpf_common.h
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET = 0, 4  # in struct seccomp_data
_ALLOW, _DENY, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # deny: EPERM
_X32 = 0x40000000  # the same system calls with other numbers

# Audit architecture and system call numbers: socket, socketpair, connect, bind, listen, execve, execveat, ptrace,
# process_vm_readv, process_vm_writev, io_uring_setup, bpf, unshare, mount, keyctl
_DENIED_CALLS = {
    "x86_64": (0xC000003E, (41, 53, 42, 49, 50, 59, 322, 101, 310, 311, 425, 321, 272, 165, 250)),
    "aarch64": (0xC00000B7, (198, 199, 203, 200, 201, 221, 281, 117, 270, 271, 425, 280, 97, 40, 219)),
}


def confine(memory: int) -> None:
    """Confine this process irrevocably. Call it after all imports and before starting threads.

    `memory`: the limit of its address space in bytes. Raises OSError if the kernel refuses.
    """
    library = ctypes.CDLL(None, use_errno=True)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    _drop_capabilities(library)
    _prctl(library, _PR_SET_DUMPABLE, 0)  # other processes of the account can't read its memory
    _prctl(library, _PR_SET_NO_NEW_PRIVS, 1)
    _deny_calls(library)


def limit_cpu_time(seconds: int) -> None:
    """Allow this process `seconds` more of CPU time; then the kernel kills it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime) + seconds, hard))


def _drop_capabilities(library: ctypes.CDLL) -> None:
    _prctl(library, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _check(library.capset(header, (ctypes.c_uint32 * 6)()))


def _deny_calls(library: ctypes.CDLL) -> None:
    """Install a seccomp filter, on the machine architectures of `_DENIED_CALLS` only."""
    calls = _DENIED_CALLS.get(platform.machine())
    if calls is None:
        return
    architecture, denied = calls
    program = [
        _instruction(_LOAD, value=_ARCHITECTURE_OFFSET),
        _instruction(_EQUAL, skip_if_true=1, value=architecture),
        _instruction(_RETURN, value=_KILL),
        _instruction(_LOAD, value=_NUMBER_OFFSET),
        _instruction(_AT_LEAST, skip_if_true=len(denied) + 1, value=_X32),
        *(
            _instruction(_EQUAL, skip_if_true=len(denied) - position, value=number)
            for position, number in enumerate(denied)
        ),
        _instruction(_RETURN, value=_ALLOW),
        _instruction(_RETURN, value=_DENY),
    ]
    code = ctypes.create_string_buffer(b"".join(program))
    filter_program = ctypes.create_string_buffer(struct.pack("HL", len(program), ctypes.addressof(code)))
    _check(
        library.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.c_void_p(ctypes.addressof(filter_program)), 0, 0)
    )


def _instruction(code: int, *, skip_if_true: int = 0, value: int) -> bytes:
    """A BPF instruction. `skip_if_true`: how many instructions to skip if the comparison is true."""
    return struct.pack("HBBI", code, skip_if_true, 0, value)


def _prctl(library: ctypes.CDLL, option: int, value: int) -> None:
    _check(library.prctl(option, value, 0, 0, 0))


def _check(result: int) -> None:
    if result != 0:
        error_number = ctypes.get_errno()
        raise OSError(error_number, os.strerror(error_number))
