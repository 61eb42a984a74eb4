"""`mailkeep worker`: deliveries in a process of its own."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.instance import PROGRAM, ROOT, Instance, Launch


def worker(data_dir: Path, log: Path) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            [*PROGRAM, "worker", "--data-dir", str(data_dir)],
            cwd=ROOT,
            env=Launch().environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


def test_it_works_beside_an_instance_until_sigterm(instance: Instance, tmp_path: Path):
    log = tmp_path / "worker.log"
    process = worker(instance.data_dir, log)
    try:
        deadline = time.monotonic() + 60
        while b"the worker has started" not in log.read_bytes():
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        process.terminate()
        assert process.wait(60) == 0, log.read_text()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(60)
    assert b"Traceback" not in log.read_bytes()


def test_it_reports_that_it_works_as_json(instance: Instance, tmp_path: Path):
    log = tmp_path / "worker.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [*PROGRAM, "worker", "--json", "--data-dir", str(instance.data_dir)],
            cwd=ROOT,
            env=Launch().environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        try:
            assert process.stdout
            assert select.select([process.stdout], [], [], 60)[0], log.read_text()
            assert json.loads(process.stdout.readline()) == {"pid": process.pid, "data_dir": str(instance.data_dir)}
            process.terminate()
            assert process.wait(60) == 0, log.read_text()
            assert process.stdout.read() == b""
        finally:
            process.kill()


@pytest.mark.parametrize("name, code", [("", 75), ("none", 1)])
def test_without_an_instance_it_fails(tmp_path: Path, name: str, code: int):
    """Temporary without a running instance, permanent without a data directory."""
    done = subprocess.run(
        [sys.executable, "-m", "mailkeep.run.cli.main", "worker", "--data-dir", str(tmp_path / name)],
        check=False,
        cwd=ROOT,
        env=Launch().environment,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == code
    assert "is not running" in done.stderr
