"""The external MTA of the tests: accepts, defers or rejects by recipient, and stores accepted messages.

Local parts, with any `+tag`: `bounce` is unknown (550 5.1.1), `defer` is deferred once, then accepted; `fail` is always
deferred; `content` is rejected after DATA; all others are accepted. A message is a file `N.json` (envelope) and
`N.eml`.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session


class Internet:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.deferred: set[str] = set()

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        local_part = address.partition("@")[0].partition("+")[0].lower()
        if local_part == "bounce":
            return "550 5.1.1 nobody of this name"
        if local_part == "fail" or (local_part == "defer" and address not in self.deferred):
            self.deferred.add(address)
            return "451 4.2.0 come back later"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 Ok"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        if any(address.startswith("content") for address in envelope.rcpt_tos):
            return "554 5.7.1 not this content"
        name = f"{time.time_ns()}"
        assert isinstance(envelope.original_content, bytes)
        (self.folder / f"{name}.eml").write_bytes(envelope.original_content)
        envelope_data: dict[str, Any] = {"mail_from": envelope.mail_from, "rcpt_to": envelope.rcpt_tos}
        draft = self.folder / f"{name}.part"
        draft.write_text(json.dumps(envelope_data))
        draft.rename(self.folder / f"{name}.json")
        return f"250 2.0.0 Ok: queued as {name}"


def main() -> None:
    host, port, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    controller = Controller(Internet(folder), hostname=host, port=port, data_size_limit=200_000_000)
    controller.start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
