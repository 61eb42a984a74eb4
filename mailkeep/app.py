"""The toolbox that a use case receives: settings, clock, secrets, database, the mail clients and the HTTP client.

`conn` as a parameter is the caller's transaction; `app` means that the use case opens short ones itself and holds
none over the network.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from mailkeep.core.clock import Clock
from mailkeep.core.secret import Vault
from mailkeep.db.pool import Database
from mailkeep.mail.parse_process import Parser
from mailkeep.mail.smtp_pool import SmtpPool
from mailkeep.net.client import Outbound
from mailkeep.net.openid import OpenId
from mailkeep.settings import Settings
from mailkeep.web.streams import Streams


@dataclass(slots=True)
class App:
    """What every process of Mailkeep has at hand."""

    settings: Settings
    data_dir: Path
    clock: Clock
    vault: Vault
    db: Database
    mta: SmtpPool | None = None  # where outbound mail is handed in; None: sending is not configured
    parser: Parser = field(default_factory=Parser)  # takes received messages apart, beside us
    streams: Streams = field(default_factory=Streams)  # answers that last
    outbound: Outbound = field(default_factory=Outbound)  # HTTP to others; it opens nothing before its first request
    openid: OpenId = field(init=False)  # what is known of identity providers

    def __post_init__(self) -> None:
        self.openid = OpenId(self.outbound)
