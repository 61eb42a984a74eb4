"""The folder of an installation that can be upgraded: an environment for each version, and a link to the one in use.

PREFIX/versions/1.2.3   a virtual environment, with Mailkeep and all that it needs
PREFIX/current          a link to one of them: what starts Mailkeep (a unit of systemd) runs PREFIX/current/bin/mailkeep
PREFIX/release-key.pem  if it exists, only wheels with a signature by this key are accepted

The link changes only when the new version has proved itself: whatever is interrupted before, the next start is that of
the old one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.db.instance import write_atomically
from mailkeep.run.runtime.upgrade_guard import CURRENT, VERSION
from mailkeep.run.runtime.upgrade_wheel import LOCK, Wheel

_VERSIONS, _CURRENT, _RELEASE_KEY, _COMPLETE = "versions", CURRENT, "release-key.pem", ".wheel"
_HOW = "docs/howto/upgrades.md says how to install it so that it can be upgraded"
_INSTALL_SECONDS, _CHECK_SECONDS = 1800, 120
_SPARE_BYTES = 200_000_000
_IMPORTS = "import mailkeep.run.cli.main, mailkeep.run.profiles.full; print(mailkeep.__version__)"


@dataclass(frozen=True, slots=True)
class Installation:
    """The installation of the running program. `own` is its environment."""

    prefix: Path
    own: Path

    @property
    def release_key(self) -> Path:
        """The file with the key that signs releases, if wheels must be signed."""
        return self.prefix / _RELEASE_KEY

    @property
    def incoming(self) -> Path:
        """The folder for a wheel that is examined."""
        return self.prefix / _VERSIONS / ".incoming"

    def environment(self, version: str) -> Path:
        """The environment of a version."""
        return self.prefix / _VERSIONS / version


def find_installation() -> Installation:
    """The installation that this program belongs to. Failure, permanent, if it is of another form, is not the one in
    use, or if other accounts could change it.
    """
    own = Path(sys.prefix).resolve()
    prefix = own.parent.parent
    if own.parent.name != _VERSIONS or not (prefix / _CURRENT).is_symlink():
        raise Failure(f"Mailkeep in {own} has no folder for several versions: {_HOW}.", permanent=True)
    if (prefix / _CURRENT).resolve() != own:
        raise Failure(
            f"{prefix / _CURRENT} leads to another version than this: run {prefix}/{_CURRENT}/bin/mailkeep.",
            permanent=True,
        )
    for folder in (own, *own.parents):
        status = folder.stat()
        is_open = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
        if is_open or status.st_uid not in (0, os.geteuid()):
            raise Failure(f"Other accounts can change {folder}: its owner must be this account, and only its owner may "
                          "write to it.", permanent=True)  # fmt: skip
    if not os.access(own.parent, os.W_OK):
        raise Failure(f"This account can't write to {own.parent}.", permanent=True)
    return Installation(prefix, own)


def remove_unused(installation: Installation, environment: Path) -> list[str]:
    """Remove the environments of all versions but this one, which was running until now, and the new one, unless a
    process uses them: that of another instance, or a guard. Returns the versions. Blocks. OSError.
    """
    kept = {installation.own, environment}
    unused = [
        path
        for path in installation.own.parent.iterdir()
        if VERSION.fullmatch(path.name) and path.is_dir() and not path.is_symlink() and path not in kept
    ]
    in_use = _list_in_use(unused)
    removed = sorted(set(unused) - in_use)
    for path in removed:
        (path / _COMPLETE).unlink(missing_ok=True)  # so that half of it is never taken for a whole
        shutil.rmtree(path)
    return [path.name for path in removed]


def _list_in_use(environments: Sequence[Path]) -> set[Path]:
    """The environments of running processes: by their arguments, and the libraries that they have loaded."""
    found: set[Path] = set()
    for process in Path("/proc").iterdir():
        if environments and process.name.isdigit():
            for name in ("cmdline", "maps"):
                with contextlib.suppress(OSError):  # it has ended, or is another account's
                    content = (process / name).read_bytes()
                    found.update(path for path in environments if os.fsencode(f"{path}/") in content)
    return found


def require_space(installation: Installation, wheel: Wheel) -> None:
    """Failure if the disk might not have room for another environment."""
    size = sum(path.lstat().st_size for path in installation.own.rglob("*") if path.is_file())
    needed = max(size * 3 // 2, wheel.unpacked_bytes) + _SPARE_BYTES
    free = shutil.disk_usage(installation.prefix).free
    if free < needed:
        raise Failure(
            f"{installation.prefix} has {free / 10**6:.0f} MB free, and another environment needs "
            f"{needed / 10**6:.0f} MB."
        )


def find_complete(installation: Installation, wheel: Wheel) -> Path | None:
    """The environment that `build` made of this wheel."""
    target = installation.environment(wheel.version)
    try:
        is_complete = (target / _COMPLETE).read_text("ascii").strip() == wheel.sha256
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return target if is_complete else None


def build(installation: Installation, wheel: Wheel, find_links: Path | None) -> Path:
    """Make the environment of the wheel's version. Blocks for up to minutes.

    What the wheel needs comes from the index that pip is configured for, or only from the folder `find_links`; each
    package must have a hash that the wheel names.
    """
    target = installation.environment(wheel.version)
    if target == installation.own:
        raise Failure(f"{target} is the environment in use.", permanent=True)
    shutil.rmtree(target, ignore_errors=True)
    with zipfile.ZipFile(wheel.path) as archive:
        lock = installation.incoming / "requirements.txt"
        lock.write_bytes(archive.read(LOCK))
    _run([sys.executable, "-I", "-m", "venv", str(target)], _CHECK_SECONDS)
    python = [str(target / "bin" / "python"), "-I"]
    pip = [*python, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--no-deps"]
    source = ["--no-index", f"--find-links={find_links}"] if find_links else []
    _run([*pip, "--require-hashes", "--only-binary=:all:", *source, "-r", str(lock)], _INSTALL_SECONDS)
    _run([*pip, "--no-index", str(wheel.path)], _INSTALL_SECONDS)
    _run([*python, "-m", "pip", "check"], _CHECK_SECONDS)
    version = _run([*python, "-c", _IMPORTS], _CHECK_SECONDS).strip()
    if version != wheel.version:
        raise Failure(f"The new environment has Mailkeep {version[:40]}, not {wheel.version}.", permanent=True)
    write_atomically(target / _COMPLETE, wheel.sha256 + "\n")
    return target


def switch(installation: Installation, environment: Path) -> None:
    """Let the link lead to this environment, when all its files are on the disk. Atomic."""
    os.sync()
    link, draft = installation.prefix / _CURRENT, installation.prefix / f".{_CURRENT}"
    draft.unlink(missing_ok=True)
    draft.symlink_to(environment.relative_to(installation.prefix))
    draft.replace(link)
    descriptor = os.open(installation.prefix, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _run(argv: Sequence[str], seconds: float) -> str:
    """Run a command of an environment; its output. Failure with the end of its messages."""
    try:
        result = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
            cwd="/",
            umask=0o022,  # our processes run as other accounts
        )
    except subprocess.TimeoutExpired as error:
        raise Failure(f"{' '.join(argv[:4])} did not end within {seconds:.0f} s.") from error
    if result.returncode != 0:
        lines = (result.stderr + result.stdout).strip().splitlines()
        raise Failure(f"The new environment could not be made: {' / '.join(lines[-4:])[:1000]}")
    return result.stdout
