"""Numbers that several processes share: what one process counts, all see.

A process that forks others creates the memory first. Each of them then has a `slot` of its own, and writes only there,
so that what a killed process held can be forgotten (`clear`). Changes that depend on what others wrote are made while
holding the lock (`with memory:`), which the kernel releases if its holder is killed. With one process nothing is
locked.
"""

from __future__ import annotations

import fcntl
import mmap
import os
from math import inf

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Unavailable

_ROWS = 1 << 15
_BUCKETS, _WAYS = 1 << 14, 8
_KEY_BITS = (1 << 64) - 1


def key_of(name: str) -> int:
    """The key of a number. The processes of a group have the same: the seed of their hashes is inherited."""
    return hash(name) & _KEY_BITS or 1


class SharedMemory:
    """The memory of `processes` processes; `rows` limits how many different numbers each of them may have at a time.

    `times` holds the time of each key of the last 100,000 or so (`find_time`), in seconds since `since`.
    """

    def __init__(self, processes: int = 1, rows: int = _ROWS) -> None:
        self.processes, self.slot, self.since = processes, 0, utc_now()
        self._mask = (1 << (rows - 1).bit_length()) - 1
        self._keys = [_allocate(self._mask + 1).cast("Q") for _ in range(processes)]
        self._numbers = [_allocate(self._mask + 1).cast("Q") for _ in range(processes)]
        self._used = 0  # rows of this process with a key
        self._time_keys = _allocate(_BUCKETS * _WAYS).cast("Q")
        self.times = _allocate(_BUCKETS * _WAYS).cast("d")
        self._lock = os.memfd_create("lock", os.MFD_CLOEXEC) if processes > 1 else None

    def __del__(self) -> None:
        if getattr(self, "_lock", None) is not None:
            os.close(self._lock or 0)

    def __enter__(self) -> None:
        """Hold the lock. Not to be nested."""
        if self._lock is not None:
            fcntl.lockf(self._lock, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        if self._lock is not None:
            fcntl.lockf(self._lock, fcntl.LOCK_UN)

    def read(self, key: int) -> list[int]:
        """The number of each process; 0 where it was not written."""
        found: list[int] = []
        for slot, numbers in enumerate(self._numbers):
            row = self._find(slot, key)
            found.append(0 if row is None else numbers[row])
        return found

    def write(self, key: int, number: int) -> None:
        """Set this process's number, at least 0. Call it while holding the lock. UNAVAILABLE if there are too many."""
        row = self._find(self.slot, key)
        if row is None:
            if not number:
                return
            row = self._insert(key)
        self._numbers[self.slot][row] = number

    def add(self, key: int, number: int) -> None:
        """Add to this process's number. Call it while holding the lock."""
        self.write(key, self.read(key)[self.slot] + number)

    def clear(self, slot: int) -> None:
        """Forget the numbers of a process that has ended. Call it while holding the lock."""
        for region in (self._numbers[slot], self._keys[slot]):
            region[:] = memoryview(bytes(region.nbytes)).cast("Q")

    def find_time(self, key: int) -> int:
        """The index of a key's time in `times`; -inf for a new key, which replaces the key with the earliest of eight
        times. Call it while holding the lock.
        """
        first = key % _BUCKETS * _WAYS
        keys = self._time_keys[first : first + _WAYS].tolist()
        if key in keys:
            return first + keys.index(key)
        times = self.times[first : first + _WAYS].tolist()
        way = keys.index(0) if 0 in keys else times.index(min(times))
        self._time_keys[first + way] = key
        self.times[first + way] = -inf
        return first + way

    def _find(self, slot: int, key: int) -> int | None:
        keys, row = self._keys[slot], key & self._mask
        while (found := keys[row]) != key:
            if not found:
                return None
            row = (row + 1) & self._mask
        return row

    def _insert(self, key: int) -> int:
        most = len(self._keys[self.slot]) * 3 // 4
        if self._used >= most:
            self._drop_zeros()
        if self._used >= most:
            raise Unavailable("Too many clients at the same time; try again later.", retry_after=5)
        self._used += 1
        keys, row = self._keys[self.slot], key & self._mask
        while keys[row]:
            row = (row + 1) & self._mask
        keys[row] = key
        return row

    def _drop_zeros(self) -> None:
        keys, numbers = self._keys[self.slot], self._numbers[self.slot]
        kept = [(key, number) for key, number in zip(keys, numbers, strict=True) if number]
        self.clear(self.slot)
        self._used = 0
        for key, number in kept:
            row = self._insert(key)
            numbers[row] = number


def _allocate(count: int) -> memoryview:
    """`count` zeros of 8 bytes that child processes share; memory is used only for the pages that are written."""
    return memoryview(mmap.mmap(-1, count * 8))
