"""Starts and queries the receiver of webhooks (`hook_sink`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.webhook_sink import HERE, authority


class HookSink:
    """The sink in a separate process."""

    def __init__(self, folder: Path) -> None:
        certificate = folder / "sink.pem"
        issued = authority().issue_cert(HERE)
        certificate.write_bytes(issued.private_key_and_cert_chain_pem.bytes())
        command = [sys.executable, "-m", "bench.rig.hook_sink", str(certificate)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"https://{HERE}:{self._line()}/hook"

    def _line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def heard(self) -> Mapping[str, Any]:
        assert self.process.stdin
        print(file=self.process.stdin, flush=True)
        return json.loads(self._line())

    def end(self) -> None:
        self.process.communicate(timeout=20)
