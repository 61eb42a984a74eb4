"""Child processes and memory of a running instance, from /proc."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """The child processes of all threads of a process; empty if it has ended."""
    pids: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # threads end, too
                pids += map(int, (task / "children").read_text().split())
    return pids


def descendants(pid: int) -> list[int]:
    """The children, and their descendants."""
    return [each for child in children(pid) for each in process_tree(child)]


def process_tree(pid: int) -> list[int]:
    """The process and its descendants."""
    return [pid, *descendants(pid)]


def memory_mib(pid: int, field: str = "Pss") -> float:
    """A field of /proc/PID/smaps_rollup, in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024
