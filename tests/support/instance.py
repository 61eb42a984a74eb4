"""A complete running instance, started by the real command on free ports."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = (sys.executable, "-m", "mailkeep.run.cli.main")


@dataclass(frozen=True)
class Launch:
    """How the command is run: the program, its folder and account (None: the current one)."""

    program: Sequence[str] = PROGRAM
    environ: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: Path = ROOT
    user: str | None = None

    def command(self, data_dir: Path) -> list[str]:
        """`mailkeep up` on free ports."""
        ports = ("--http", "127.0.0.1:0", "--smtp", "127.0.0.1:0", "--internal", "127.0.0.1:0")
        return [*self.program, "up", "--data-dir", str(data_dir), *ports]

    @property
    def environment(self) -> dict[str, str]:
        """The current environment without our settings, plus `environ`; DNS records are checked on request only."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("MAILKEEP_")}
        return kept | {"MAILKEEP_DNS__CHECK_MINUTES": "0"} | dict(self.environ)


@dataclass
class Instance:
    """`http` is a URL without a path, `smtp` host:port."""

    process: subprocess.Popen[bytes]
    data_dir: Path
    http: str
    smtp: str
    internal: str

    def stop(self, number: int = signal.SIGTERM, seconds: float = 60) -> int:
        """Stop it; returns its exit code."""
        self.process.send_signal(number)
        return self.process.wait(seconds)

    @property
    def log(self) -> str:
        """Its standard output and error."""
        return (self.data_dir.parent / f"{self.data_dir.name}.log").read_text(errors="replace")


def start(
    data_dir: Path, environ: Mapping[str, str] | None = None, seconds: float = 60, launch: Launch | None = None
) -> Instance:
    """Start `mailkeep up` and wait until it has written its addresses."""
    launch = launch or Launch(environ=environ or {})
    log = data_dir.parent / f"{data_dir.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            launch.command(data_dir),
            cwd=launch.folder,
            env=launch.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            user=launch.user,
            group=pwd.getpwnam(launch.user).pw_gid if launch.user else None,
            extra_groups=[] if launch.user else None,
        )
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise AssertionError(f"mailkeep up ended with {process.returncode}:\n{log.read_text()}")
        try:
            run_info = json.loads((data_dir / "run.json").read_bytes())
        except (FileNotFoundError, ValueError):
            run_info = {}
        if run_info.get("pid") == process.pid:
            return Instance(process, data_dir, run_info["http"], run_info["smtp"], run_info["internal"])
        time.sleep(0.05)
    process.kill()
    process.wait(30)
    raise AssertionError(f"mailkeep up was not ready within {seconds} s:\n{log.read_text()}")
