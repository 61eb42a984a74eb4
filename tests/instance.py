"""A whole running instance, started by the real command on free ports, for tests that need one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass
class Instance:
    """`http` is a URL without a path, `smtp` host:port."""

    process: subprocess.Popen[bytes]
    data_dir: Path
    http: str
    smtp: str
    internal: str

    def stop(self, number: int = signal.SIGTERM, seconds: float = 15) -> int:
        """End it, and answer its exit code."""
        self.process.send_signal(number)
        return self.process.wait(seconds)

    @property
    def log(self) -> str:
        """What it wrote to standard output and error."""
        return (self.data_dir.parent / f"{self.data_dir.name}.log").read_text(errors="replace")


def start(data_dir: Path, environ: Mapping[str, str] | None = None, seconds: float = 30) -> Instance:
    """Start `mailkeep up` and wait until it says where it is."""
    log = data_dir.parent / f"{data_dir.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "mailkeep.run.cli", "up", "--data-dir", str(data_dir), "--http", "127.0.0.1:0",
             "--smtp", "127.0.0.1:0", "--internal", "127.0.0.1:0"],
            cwd=ROOT,
            env={**{k: v for k, v in os.environ.items() if not k.startswith("MAILKEEP_")}, **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"mailkeep up ended with {process.returncode}:\n{log.read_text()}")
        try:
            told = json.loads((data_dir / "run.json").read_bytes())
        except (FileNotFoundError, ValueError):
            told = {}
        if told.get("pid") == process.pid:
            return Instance(process, data_dir, told["http"], told["smtp"], told["internal"])
        time.sleep(0.05)
    process.kill()
    process.wait(5)
    raise AssertionError(f"mailkeep up was not ready within {seconds} s:\n{log.read_text()}")
