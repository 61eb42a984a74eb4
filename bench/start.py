"""The second start: seconds from the command to a healthy answer, and idle memory.

Promise: healthy within 2 s. Memory is the proportional set size (PSS) of the instance and its children, summed ten
seconds after the last start. `python -m bench.start [STARTS]`.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import time
import urllib.request
from pathlib import Path

from tests.support import instance as instances
from tests.support.instance import Instance
from tests.support.processes import memory_mib, process_tree
from tests.support.scratch import new_directory

PROMISED = 2.0
REST = 10.0


def healthy(running: Instance) -> None:
    with urllib.request.urlopen(f"{running.http}/health", timeout=10) as answer:
        assert answer.status == 200


def started(data_dir: Path, rest: float = 0) -> tuple[float, list[float]]:
    """Start once: seconds until healthy, and the memory of each process when idle."""
    began = time.monotonic()
    running = instances.start(data_dir)
    healthy(running)
    took = time.monotonic() - began
    time.sleep(rest)
    memory = [memory_mib(pid) for pid in process_tree(running.process.pid)]
    assert running.stop() == 0, running.log
    return took, memory


def main() -> int:
    starts = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    folder = new_directory("mailkeep-start-", 0o755)
    (folder / "data").mkdir()
    (folder / "data").chmod(0o711)  # so that the database's account can enter
    try:
        first, _ = started(folder / "data")
        second = [started(folder / "data")[0] for _ in range(starts - 1)]
        last, memory = started(folder / "data", rest=REST)
        second.append(last)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"first start   {first:.2f} s")
    print(f"second start  median {statistics.median(second):.2f} s, slowest {max(second):.2f} s of {len(second)}")
    ours, database = memory[0], sum(memory[1:])
    print(f"memory        {ours + database:.0f} MiB at rest: {ours:.0f} ours, {database:.0f} the database's")
    print(f"ratio         {statistics.median(second) / PROMISED:.2f} of the {PROMISED:.0f} s promised")
    return 0 if statistics.median(second) < PROMISED else 1


if __name__ == "__main__":
    sys.exit(main())
