"""`mailkeep restore` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.instance import PROGRAM, ROOT


def restore(
    repository: Path | str,
    data_dir: Path,
    key: Path | None,
    *more: str,
    environ: Mapping[str, str] | None = None,
    program: Sequence[str] = PROGRAM,
) -> tuple[int, dict[str, Any], str]:
    """`mailkeep restore`; returns its exit code, its JSON and its standard error."""
    key_option = ["--key-file", str(key)] if key else []
    command = [*program, "restore", str(repository), "--data-dir", str(data_dir), *key_option, *more, "--json"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MAILKEEP_")}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=kept | dict(environ or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr
