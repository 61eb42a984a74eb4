"""`mailkeep restore` in a process of its own, and a look at what it restored."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psycopg

from mailkeep.db import postgres
from mailkeep.db.instance import INSTANCE_ID, acquire_lock
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


async def list_domains(data_dir: Path) -> set[str]:
    """The names of the domains of a restored instance. It gets another ID: that of the backup may be running."""
    (data_dir / INSTANCE_ID).write_text(f"{secrets.token_hex(6)}\n")
    lock = acquire_lock(data_dir)
    try:
        server = await postgres.start(data_dir)
        try:
            async with await psycopg.AsyncConnection.connect(server.urls.app) as conn:
                return {row[0] for row in await (await conn.execute("SELECT name FROM domains")).fetchall()}
        finally:
            await server.stop()
    finally:
        lock.release()
