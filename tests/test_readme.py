"""The README's tour, executed line by line as it stands, against an instance of its own."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from tests.instance import Instance

ROOT = Path(__file__).parent.parent
TOUR = re.compile(r"^```sh tour\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_tour_runs_as_it_stands(instance: Instance, tmp_path: Path):
    lines = "".join(TOUR.findall((ROOT / "README.md").read_text()))
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", lines],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "API": f"{instance.http}/api/v1",
            "SMTP": f"smtp://{instance.smtp}",
            "DATA": str(instance.data_dir),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("The DKIM signature is good.", "Refused, as it should be.", '"decision":"deliver"', "alias.create"):
        assert words in done.stdout, (words, done.stdout)
