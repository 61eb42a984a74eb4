"""What the kernel knows about its clock (adjtimex(2)); reading it needs no privilege and sends nothing."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

_ERROR_STATE, _UNSYNCHRONIZED = 5, 0x40  # TIME_ERROR, STA_UNSYNC


@dataclass(frozen=True, slots=True)
class KernelClock:
    """Whether a time service sets the clock, and its largest error by the kernel's estimate, in seconds."""

    synchronized: bool
    max_error_seconds: float


class _Timex(ctypes.Structure):
    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_byte * 256),  # more than the kernel writes
    )


def read() -> KernelClock | None:
    """The state of the clock; None if the kernel does not tell."""
    timex = _Timex()
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
    except (OSError, AttributeError):
        return None
    if state < 0:
        return None
    is_synchronized = state != _ERROR_STATE and not timex.status & _UNSYNCHRONIZED
    return KernelClock(is_synchronized, timex.maxerror / 1e6)
