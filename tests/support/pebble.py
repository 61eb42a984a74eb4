"""Pebble, Let's Encrypt's ACME server for tests, with its own certificate authority.

with Pebble(tmp_path, dns="127.0.0.1:5353") as pebble:
    AcmeSettings(directory=pebble.directory, extra_ca_file=str(pebble.ca_file), allowed_networks=("127.0.0.0/8",))

It validates HTTP-01 on port 80, and keeps everything in memory.
"""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
import time
import urllib.request
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import trustme

from mailkeep.core.clock import iso
from tests.support.ports import free_port

_BIN = Path(__file__).parents[2] / ".venv" / "bin"
PEBBLE = shutil.which("pebble", path=f"{_BIN}:{os.environ.get('PATH', '')}")
_START_SECONDS = 30
EAB_KEY_ID, EAB_KEY = "kid-1", "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"


class Pebble:
    """The server. `reject_nonces`: how many of a hundred valid nonces it refuses. `binding`: whether it requires an
    external account binding, with `EAB_KEY`. `dns` may be set until it starts.
    """

    def __init__(self, folder: Path, dns: str, *, reject_nonces: int = 20, binding: bool = False) -> None:
        self.dns = dns
        self._folder, self._reject, self._binding = folder, reject_nonces, binding
        self._port, self._management = free_port(), free_port()
        self.directory = f"https://127.0.0.1:{self._port}/dir"
        self.ca_file = folder / "ca.pem"

    def __enter__(self) -> Self:
        assert PEBBLE is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self.ca_file))
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(self._folder / "api.pem"))
        config: dict[str, Any] = {
            "listenAddress": f"127.0.0.1:{self._port}",
            "managementListenAddress": f"127.0.0.1:{self._management}",
            "certificate": str(self._folder / "api.pem"),
            "privateKey": str(self._folder / "api.pem"),
            "httpPort": 80,
            "tlsPort": 443,
            "ocspResponderURL": "",
            "externalAccountBindingRequired": self._binding,
            "externalAccountMACKeys": {EAB_KEY_ID: EAB_KEY},
            "domainBlocklist": ["blocked.test"],
            "retryAfter": {"authz": 1, "order": 1},
            "keyAlgorithm": "ecdsa",
            "profiles": {
                "default": {"description": "90 days", "validityPeriod": 90 * 86_400},
                "shortlived": {"description": "6 days", "validityPeriod": 6 * 86_400},
            },
        }
        (self._folder / "pebble.json").write_text(json.dumps({"pebble": config}))
        environ = {"PATH": os.environ.get("PATH", ""), "PEBBLE_VA_NOSLEEP": "1", "PEBBLE_AUTHZREUSE": "0"}
        environ["PEBBLE_WFE_NONCEREJECT"] = str(self._reject)
        with (self._folder / "pebble.log").open("wb") as log:
            self._process = subprocess.Popen(
                [PEBBLE, "-config", str(self._folder / "pebble.json"), "-dnsserver", self.dns],
                env=environ, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        self._context = ssl.create_default_context(cafile=str(self.ca_file))
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "pebble.log").read_text()
            assert time.monotonic() < deadline, "pebble did not start"
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)

    def _answers(self) -> bool:
        try:
            return bool(self._get("/roots/0"))
        except OSError:
            return False

    def _get(self, path: str) -> bytes:
        url = f"https://127.0.0.1:{self._management}{path}"
        with urllib.request.urlopen(url, timeout=10, context=self._context) as answer:
            return answer.read()

    def root(self) -> str:
        """The root certificate, in PEM."""
        return self._get("/roots/0").decode()

    def status_of(self, serial: str) -> str:
        """`Valid` or `Revoked`, of a certificate by its serial number in hexadecimal."""
        return json.loads(self._get(f"/cert-status-by-serial/{serial}"))["Status"]

    def suggest(self, chain: str, start: datetime, end: datetime) -> None:
        """Let ARI suggest this window for a certificate."""
        window = {"suggestedWindow": {"start": iso(start), "end": iso(end)}}
        body = json.dumps({"certificate": chain, "ariResponse": json.dumps(window)}).encode()
        url = f"https://127.0.0.1:{self._management}/set-renewal-info/"
        with urllib.request.urlopen(url, body, timeout=10, context=self._context) as answer:
            assert answer.status == 200

    def log(self) -> str:
        """What it has logged."""
        return (self._folder / "pebble.log").read_text()
