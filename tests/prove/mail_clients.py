"""`make prove-mail-clients`: the full profile with mail programs, app passwords, sessions that end, kill -9.

It takes about ten minutes, needs root and the programs in `client_programs.TOOLS`, and skips nothing. ARGS="--only
programs app-passwords sessions kills" runs a part.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from mailkeep import __version__
from tests.prove import app_password_programs, client_programs, session_ends, sieve_kills
from tests.prove.checks import Checks
from tests.stack import harness

PARTS = ("programs", "app-passwords", "sessions", "kills")


def _prove(folder: Path, parts: Sequence[str]) -> Checks:
    checks = Checks()
    harness.start(folder, ABUSE__SENDER_PER_HOUR="100000")
    try:
        stack = harness.Stack(folder)
        if "programs" in parts:
            client_programs.prove(stack, checks, folder)
        if "app-passwords" in parts:
            print("\nA mailbox's own password and app passwords, by their scope")
            app_password_programs.prove(stack, checks, folder)
        if "sessions" in parts:
            print(f"\nOpen sessions when access ends: all of the protocols concerned within {session_ends.ALLOWED:g} s")
            session_ends.prove(stack, checks)
        if "kills" in parts:
            print("\nSieve's mail (a redirect of each of a stream of messages of 4 MB) under kill -9")

            def install(address: str, script: str) -> None:
                client_programs.install(stack, folder, address, script)

            sieve_kills.prove(stack, checks, install)
    finally:
        harness.stop(folder)
    return checks


def _system() -> str:
    names = platform.freedesktop_os_release()
    return f"{names.get('NAME', 'Linux').split()[0]} {names.get('VERSION_ID', '')}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=PARTS, choices=PARTS)
    parts = parser.parse_args().only
    missing = [name for name, (program, *_) in client_programs.TOOLS.items() if shutil.which(program) is None]
    if missing or os.geteuid() != 0:
        print(f"This proof needs root and all its programs. Missing: {', '.join(missing) or 'root'}.")
        return 1
    print(f"Mailkeep {__version__}: mail programs, app passwords, sessions that end, kill -9 (full profile)")
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {len(os.sched_getaffinity(0))} cores, {_system()}")
    print(", ".join(client_programs.versions()), flush=True)
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-clients-"))
    try:
        checks = _prove(folder, parts)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{checks.passed} checks passed, {len(checks.failed)} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
