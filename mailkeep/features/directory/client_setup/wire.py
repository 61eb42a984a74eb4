"""JSON of the setup of mail programs."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from msgspec import Meta, Struct

from mailkeep.core.clock import iso
from mailkeep.features.directory.client_setup.model import ClientSetup, DomainSetup, SetupLink
from mailkeep.mail.client_setup import autodiscover
from mailkeep.mail.client_setup.services import Protocol
from mailkeep.web.fields import Query, Timestamp

SetupFormat = Literal["json", "apple", "qr"]


class SetupQuery(Query, frozen=True):
    """`apple`: a profile for iPhone, iPad and Mac, signed with the server's certificate; `qr`: the mailbox's setup link
    as a QR code (SVG).
    """

    format: SetupFormat = "json"


class AutoconfigQuery(Query, frozen=True):
    """`emailaddress`: decides the domain if the Host field does not."""

    emailaddress: str = ""


class AutodiscoverQuery(Query, frozen=True, rename={"protocol": "Protocol", "email": "Email"}):
    """`Protocol`: only Autodiscoverv1. `Email`: the address, if it is not in the path."""

    protocol: str = autodiscover.JSON_PROTOCOL
    email: str = ""


class MailServiceRecord(Struct, frozen=True):
    """A service for mail clients. `security`: `tls` from the start (preferred, RFC 8314), or `starttls`."""

    protocol: Protocol
    host: str
    port: int
    security: Literal["tls", "starttls"]


class SetupLinkRecord(Struct, frozen=True):
    """The link to a mailbox's setup page."""

    url: Annotated[str, Meta(description="Whoever has it sees the page, which has no password.")]
    expires_at: Timestamp


class ClientSetupResponse(Struct, frozen=True):
    """How to set up a mail client. `login` is the user name for all services; the preferred ones come first.

    `app_password_required`: the mailbox's own password is not accepted by mail clients. `link`: null if there is none
    that works.
    """

    address: str
    login: str
    app_password_required: bool
    services: list[MailServiceRecord]
    link: SetupLinkRecord | None


class SetupLinkDeletion(Struct, frozen=True):
    """The link was deleted."""

    message: str
    mailbox_id: UUID


class AutodiscoverReference(Struct, frozen=True, rename="pascal"):
    """Where the settings are (Autodiscover version 2)."""

    protocol: str
    url: str


def to_setup(setup: ClientSetup, link: SetupLinkRecord | None) -> ClientSetupResponse:
    """The response with the setup of a mailbox."""
    services = [MailServiceRecord(each.protocol, each.host, each.port, each.security) for each in setup.services]
    return ClientSetupResponse(setup.address, setup.address, setup.app_password_required, services, link)


def to_reference(setup: DomainSetup) -> AutodiscoverReference:
    """The response that refers to the XML of a domain."""
    return AutodiscoverReference(autodiscover.JSON_PROTOCOL, autodiscover.xml_url(setup.domain))


def to_link(link: SetupLink, url: str) -> SetupLinkRecord:
    """The response with a link."""
    return SetupLinkRecord(url, iso(link.expires_at))
