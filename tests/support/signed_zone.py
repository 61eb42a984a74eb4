"""A signed root zone, served by Knot on a loopback address: with its trust anchor, a resolver validates it."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest

_SECONDS = 30
_CONF = """
server:
    rundir: "{folder}"
    listen: {address}@53
database:
    storage: "{folder}"
policy:
  - id: test
    algorithm: ecdsap256sha256
    single-type-signing: on
    manual: on
template:
  - id: default
    storage: "{folder}"
zone:
  - domain: "."
    file: "root.zone"
    dnssec-signing: on
    dnssec-policy: test
    serial-policy: unixtime
    zonefile-sync: -1
    zonefile-load: difference-no-serial
    journal-content: all
"""
# Answers are kept for a second, so that changes are seen soon.
_HEAD = """$ORIGIN .
$TTL 1
@ SOA ns. admin. 1 3600 900 604800 1
@ NS ns.
ns A {address}
"""


class SignedZone:
    """The server. `records` are lines by the name of a domain, with names relative to it."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address
        self.records: dict[str, Sequence[str]] = {}

    def __enter__(self) -> Self:
        self.folder.mkdir(exist_ok=True)
        self._conf = self.folder / "knot.conf"
        self._conf.write_text(_CONF.format(folder=self.folder, address=self.address))
        self._write()
        self._run("keymgr", "-c", str(self._conf), ".", "generate", "algorithm=ecdsap256sha256", "ksk=yes", "zsk=yes")
        with (self.folder / "knot.log").open("wb") as output:
            self._process = subprocess.Popen(
                ["knotd", "-c", str(self._conf)], stdout=output, stderr=output, stdin=subprocess.DEVNULL
            )
        deadline = time.monotonic() + _SECONDS
        while not self._is_loaded():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"knotd did not start: {(self.folder / 'knot.log').read_text()}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(_SECONDS)

    def publish(self, domain: str, *records: str) -> None:
        """Publish a domain, instead of what it had."""
        self.records[domain] = records
        self._write()
        self._run("knotc", "-c", str(self._conf), "-b", "zone-reload", ".")

    def trust_anchor(self) -> str:
        """The DS records of the zone's key."""
        return self._run("keymgr", "-c", str(self._conf), ".", "ds")

    def _write(self) -> None:
        (self.folder / "root.zone").write_text(_HEAD.format(address=self.address) + _format(self.records))

    def _is_loaded(self) -> bool:
        command = ["knotc", "-c", str(self._conf), "zone-status", "."]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        return done.returncode == 0 and "serial: none" not in done.stdout and "serial: -" not in done.stdout

    def _run(self, *command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout


def _format(records: Mapping[str, Sequence[str]]) -> str:
    lines = [line for domain, each in records.items() for line in (f"$ORIGIN {domain}.", *each)]
    return "\n".join(lines) + "\n"


def require_knot() -> None:
    """Skip the test without Knot."""
    if not shutil.which("knotd", path="/usr/sbin:/usr/bin"):
        pytest.skip("knotd is not installed (Debian's package knot)")
