"""The setup of mail programs for a mailbox, and the link to its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from mailkeep.mail.client_setup.services import MailService

LIFETIME = timedelta(days=7)
"""How long a link works."""


@dataclass(frozen=True, slots=True)
class ClientSetup:
    """The services that a mailbox may use. `address` is also the user name."""

    mailbox_id: UUID
    address: str
    app_password_required: bool
    services: Sequence[MailService]


@dataclass(frozen=True, slots=True)
class DomainSetup:
    """The services for a domain. Its users sign in with their local part in `login_domain`."""

    domain: str
    login_domain: str
    services: Sequence[MailService]


@dataclass(frozen=True, slots=True)
class SetupLink:
    """The link to a mailbox's setup page."""

    id: UUID
    mailbox_id: UUID
    expires_at: datetime
