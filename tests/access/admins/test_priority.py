"""Passwords are hashed by threads of low priority, also in an instance whose priority is lower already."""

from __future__ import annotations

import subprocess
import sys

_HASH = """
import asyncio, os
from mailkeep.features.access.admins import service
os.nice(19)
if os.geteuid() == 0:
    os.setuid(65534)  # root may raise a priority, the account of our processes may not
made = asyncio.run(service.hash_password("a long way"))
assert asyncio.run(service.verify_password(made, "a long way"))
"""


def test_passwords_are_hashed_in_an_instance_that_was_started_by_nice() -> None:
    done = subprocess.run([sys.executable, "-c", _HASH], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
