"""Processes as the kernel tells of them: for tests, proofs and benches that look at a running instance."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """The processes that a process has started, whichever of its threads did; none where it has just ended."""
    found: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):  # threads end, too
                found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """These, and all that they have started."""
    return [each for child in children(pid) for each in family(child)]


def family(pid: int) -> list[int]:
    """The process, and all its descendants."""
    return [pid, *descendants(pid)]


def memory_mib(pid: int, what: str = "Pss") -> float:
    """A line of the kernel's account of a process's memory, in MiB."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:")) / 1024
