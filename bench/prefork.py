"""Start time and memory of the product's processes: forked from a prefork server, and started individually.

Every process imports its module (`run/runtime/process.MODULES`) and waits, without database and daemons.
Memory is the proportional set size (PSS), summed. `python -m bench.prefork [ROUNDS]`.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time

from mailkeep.run.runtime import process
from tests.support.processes import memory_mib

_IMPORT = "import importlib, mailkeep.run.runtime.process; importlib.import_module('mailkeep.run.processes.{}')"
_WAIT = "import os, sys, time; os.write(1, b'.'); time.sleep(600)"
_FORK = """
import gc, importlib, os, time
for name in {modules!r}:
    importlib.import_module('mailkeep.run.processes.' + name)
gc.collect(); gc.freeze()
os.write(1, b'.')
os.read(0, 1)
for _ in {modules!r}:
    pid = os.fork()
    if pid == 0:
        os.write(1, b'.')
        time.sleep(600)
    print(pid, file=__import__('sys').stderr, flush=True)
time.sleep(600)
"""


def alone() -> tuple[float, float, float]:
    """Start each process individually: seconds until all have imported, CPU seconds, MiB."""
    began, before = time.monotonic(), os.times()
    modules = process.MODULES.values()
    children = [
        subprocess.Popen([sys.executable, "-c", f"{_IMPORT.format(each)}; {_WAIT}"], stdout=subprocess.PIPE)
        for each in modules
    ]
    for child in children:
        assert child.stdout
        assert child.stdout.read(1) == b"."
    took = time.monotonic() - began
    memory = sum(memory_mib(child.pid) for child in children)
    for child in children:
        child.kill()
        child.wait()
    after = os.times()
    return took, after.children_user + after.children_system - before.children_user - before.children_system, memory


def forked() -> tuple[float, float, float, float]:
    """One imports and forks the others: seconds until all run, of these after the import, CPU seconds, MiB."""
    began, before = time.monotonic(), os.times()
    server = subprocess.Popen(
        [sys.executable, "-c", _FORK.format(modules=list(process.MODULES.values()))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert server.stdin
    assert server.stdout
    assert server.stderr
    assert server.stdout.read(1) == b"."
    imported = time.monotonic()
    server.stdin.write(b".")
    server.stdin.flush()
    pids = [int(server.stderr.readline()) for _ in process.MODULES]
    assert len(server.stdout.read(len(pids))) == len(pids)
    now = time.monotonic()
    memory = sum(memory_mib(pid) for pid in (server.pid, *pids))
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    server.kill()
    server.wait()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return now - began, now - imported, cpu, memory


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    alone()  # fills the page cache
    one = [alone() for _ in range(rounds)]
    other = [forked() for _ in range(rounds)]
    took, cpu, memory = map(statistics.median, zip(*one, strict=True))
    print(f"{len(process.MODULES)} processes, median of {rounds} rounds, load {os.getloadavg()[0]:.1f}")
    print(f"each by itself  {took:.2f} s, {cpu:.2f} s CPU, {memory:.0f} MiB")
    took, forks, cpu, memory = map(statistics.median, zip(*other, strict=True))
    print(f"forked          {took:.2f} s ({forks * 1000:.0f} ms for the forks), {cpu:.2f} s CPU, {memory:.0f} MiB")


if __name__ == "__main__":
    main()
