"""A real primary name server for tests: Knot DNS with zones that accept DNS UPDATE with a TSIG key.

with Knot(tmp_path, {"example.test": ["@ TXT hello"]}) as knot:
    knot.values("example.test", "TXT")
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import dns.exception
import dns.message
import dns.query
import dns.rdatatype

from mailkeep.net.dns_query import read_texts
from tests.support.ports import free_port

KNOTD = shutil.which("knotd") or shutil.which("knotd", path="/usr/sbin")
KEY_NAME, SECRET = "mailkeep.key", base64.b64encode(b"a secret of thirty-two octets!!!").decode()
_START_SECONDS = 30


class Knot:
    """The server, at `127.0.0.1:port`. `zones` has the records of each zone as lines of a zone file."""

    def __init__(
        self, folder: Path, zones: Mapping[str, Sequence[str]], *, updates: Sequence[str] | None = None
    ) -> None:
        """`updates`: the zones that the key may update; default: all."""
        self._folder, self._zones = folder, zones
        self._updates = list(zones) if updates is None else updates
        self.port = free_port()

    @property
    def address(self) -> str:
        """As in settings."""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        assert KNOTD is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        zones = ""
        for name, lines in self._zones.items():
            head = ["$TTL 3600", "@ SOA ns hostmaster 1 3600 600 86400 60", "@ NS ns", "ns A 127.0.0.1"]
            text = "\n".join([f"$ORIGIN {name}.", *head, *lines])
            (self._folder / f"{name}.zone").write_text(text + "\n")
            acl = "\n    acl: update" if name in self._updates else ""
            zones += f"  - domain: {name}\n    storage: {self._folder}\n    file: {name}.zone{acl}\n"
        config = self._folder / "knot.conf"
        config.write_text(
            f"server:\n    rundir: {self._folder}\n    listen: 127.0.0.1@{self.port}\n"
            f"    automatic-acl: off\n"
            f"database:\n    storage: {self._folder}\n"
            f"key:\n  - id: {KEY_NAME}\n    algorithm: hmac-sha256\n    secret: {SECRET}\n"
            f"acl:\n  - id: update\n    key: {KEY_NAME}\n    action: update\n"
            f"zone:\n{zones}"
            "log:\n  - target: stderr\n    any: info\n"
        )
        with (self._folder / "log").open("w") as log:
            self._process = subprocess.Popen([KNOTD, "-c", str(config)], stdout=log, stderr=log)
        until = time.monotonic() + _START_SECONDS
        while not all(self.values(name, "SOA") for name in self._zones):
            assert self._process.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < until, (self._folder / "log").read_text()
            time.sleep(0.05)
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(10)

    def values(self, name: str, record_type: str) -> list[str]:
        """The records of a name, as `DnsAnswer.values`."""
        query = dns.message.make_query(name, record_type)
        try:
            response = dns.query.tcp(query, "127.0.0.1", timeout=5, port=self.port)
        except (OSError, EOFError, dns.exception.DNSException):
            return []
        kind = dns.rdatatype.from_text(record_type)
        return [value for rrset in response.answer if rrset.rdtype == kind for value in read_texts(rrset)]
