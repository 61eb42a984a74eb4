"""Makes backups of a running instance, and restores them by the command."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from mailkeep.core.clock import utc_now
from mailkeep.core.ids import uuid7
from mailkeep.db.postgres import running_urls
from tests.support.instance import PROGRAM, ROOT


def make_backup(data_dir: Path, seconds: float = 60) -> str:
    """Make a backup; returns its ID."""
    urls = running_urls(data_dir)
    assert urls is not None
    backup_id, operation_id, at = uuid7(utc_now()), uuid7(utc_now()), utc_now()
    with psycopg.connect(urls.app, autocommit=True) as conn:
        with conn.transaction():
            conn.execute(
                "INSERT INTO backups (id, state, trigger, created_at, version)"
                " VALUES (%s, 'running', 'manual', %s, '')",
                (backup_id, at),
            )
            conn.execute(
                "INSERT INTO backup_operations (id, kind, state, backup_id, author, created_at)"
                " VALUES (%s, 'create', 'waiting', %s, 'test', %s)",
                (operation_id, backup_id, at),
            )
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            row = conn.execute("SELECT state, error FROM backup_operations WHERE id = %s", (operation_id,)).fetchone()
            assert row is not None
            if row[0] not in ("waiting", "running"):
                assert row[0] == "succeeded", row
                return str(backup_id)
            time.sleep(0.1)
    raise AssertionError(f"no backup within {seconds} s")


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
