"""An installation that can be upgraded, and wheels of a higher version, made of the working tree without a network."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path

from mailkeep import __version__
from mailkeep.db.migrate import read_schema
from tests.support.instance import ROOT

NEW = "0.2.0"
MIGRATION = f"mailkeep/db/migrations/{read_schema().migrations[-1].number + 1:04d}_colours.sql"
Changes = Mapping[str, str]
"""By file: text to append."""
_PACKAGES = "mailkeep_test_packages"


def install(prefix: Path) -> Path:
    """An installation of the working tree's version, with the packages of this environment; returns its `mailkeep`."""
    own = prefix / "versions" / __version__
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(own)], check=True, timeout=60)
    (site,) = own.glob("lib/python3*/site-packages")
    (site / "packages.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n")
    program = own / "bin" / "mailkeep"
    program.write_text(f"#!{own}/bin/python\nfrom mailkeep.run.cli.main import main\nmain()\n")
    program.chmod(0o755)
    (prefix / "current").symlink_to(own.relative_to(prefix))
    return prefix / "current" / "bin" / "mailkeep"


def build_wheel(folder: Path) -> Path:
    """The wheel of the working tree."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(ROOT)], check=True, timeout=120)
    return folder / f"mailkeep-{__version__}-py3-none-any.whl"


def build_packages(folder: Path) -> Path:
    """A wheel that stands for all packages that Mailkeep needs: with it, those of this environment are found."""
    files = {
        "test_packages.pth": sysconfig.get_path("purelib") + "\n",
        f"{_PACKAGES}-1.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {_PACKAGES}\nVersion: 1\n",
        f"{_PACKAGES}-1.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    folder.mkdir()
    path = folder / f"{_PACKAGES}-1-py3-none-any.whl"
    write_wheel(path, {name: text.encode() for name, text in files.items()}, f"{_PACKAGES}-1.dist-info")
    return path


def read_wheel(path: Path) -> dict[str, bytes]:
    """The files of a wheel, without their list."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def write_wheel(path: Path, files: Mapping[str, bytes], info: str) -> Path:
    """Write a wheel with a list of these files."""
    lines = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    record = f"{info}/RECORD"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.writestr(record, "\n".join([*lines, f"{record},,"]) + "\n")
    return path


def make_newer(
    built: Path, target: Path, packages: Path | None, version: str = NEW, changes: Changes | None = None
) -> Path:
    """A wheel of a higher version, with further text at the end of some files. It needs what `packages` stands for, or
    the packages of the index.
    """
    target.mkdir(exist_ok=True)
    files: dict[str, bytes] = {}
    for name, content in read_wheel(built).items():
        names_version = name == "mailkeep/__init__.py" or name.endswith(".dist-info/METADATA")
        renamed = name.replace(f"mailkeep-{__version__}.dist-info", f"mailkeep-{version}.dist-info")
        files[renamed] = content.replace(__version__.encode(), version.encode(), 1) if names_version else content
    if packages:
        files["mailkeep/requirements.lock"] = f"{_PACKAGES}==1 --hash=sha256:{sha256(packages)}\n".encode()
    for name, text in (changes or {}).items():
        files[name] = files.get(name, b"") + text.encode()
    return write_wheel(target / f"mailkeep-{version}-py3-none-any.whl", files, f"mailkeep-{version}.dist-info")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
