"""Which services a mailbox may use, what a request is about, and the page of a setup link."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from html import escape
from io import BytesIO, StringIO
from itertools import groupby
from uuid import UUID

import segno

from mailkeep.core.address import AddressError, normalize_domain
from mailkeep.core.errors import Conflict
from mailkeep.core.secret import Vault
from mailkeep.features.directory.client_setup.model import ClientSetup, DomainSetup
from mailkeep.features.directory.mailboxes.model import Mailbox, Protocols
from mailkeep.mail.client_setup.apple import AppleProfile, make_profile
from mailkeep.mail.client_setup.services import MailService

PAGE_PATH = "/setup/{token}"
PROFILE_PATH = "/setup/{token}/mail.mobileconfig"
STYLE_PATH = "/setup.css"
STYLE = b"""\
body { margin-top: 4rem; padding-bottom: 4rem; }
h2 { font-size: 1.125rem; margin: 2rem 0 0.5rem; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 0.25rem 1rem 0.25rem 0; vertical-align: top; }
.button { display: inline-block; text-decoration: none; }
svg { display: block; width: 12rem; height: 12rem; }
"""
_SECURITY = {"tls": "SSL/TLS", "starttls": "STARTTLS"}
_TITLES = {
    "imap": "Incoming mail (IMAP)",
    "pop3": "Incoming mail (POP3)",
    "smtp": "Outgoing mail (SMTP)",
    "sieve": "Filters (ManageSieve)",
}
_HOSTS = ("autoconfig.", "autodiscover.")


def list_services(host: str, ports: Mapping[str, int], allowed: Protocols | None = None) -> list[MailService]:
    """The services of a host with these ports (0: disabled; names as in the settings), the preferred ones first; with
    `allowed` those that a mailbox may use.
    """
    allowed = allowed or Protocols()
    services = (
        (allowed.imap, MailService("imap", host, ports["imaps"], "tls")),
        (allowed.imap, MailService("imap", host, ports["imap"], "starttls")),
        (allowed.smtp, MailService("smtp", host, ports["submissions"], "tls")),
        (allowed.smtp, MailService("smtp", host, ports["submission"], "starttls")),
        (allowed.pop3, MailService("pop3", host, ports["pop3s"], "tls")),
        (allowed.pop3, MailService("pop3", host, ports["pop3"], "starttls")),
        (allowed.sieve, MailService("sieve", host, ports["sieve"], "starttls")),
    )
    return [service for is_allowed, service in services if is_allowed and service.port]


def client_setup(mailbox: Mailbox, host: str, ports: Mapping[str, int]) -> ClientSetup:
    """The setup for a mailbox."""
    services = list_services(host, ports, mailbox.protocols)
    return ClientSetup(mailbox.id, str(mailbox.address), requires_app_password(mailbox), services)


def requires_app_password(mailbox: Mailbox) -> bool:
    """Whether mail clients need an app password."""
    own = mailbox.require_app_passwords
    return mailbox.second_factor or (mailbox.inherited_requirement.value if own is None else own)


def require_profile(setup: ClientSetup) -> AppleProfile:
    """The profile for Apple's devices; CONFLICT `no_mail_services`."""
    profile = make_profile(setup.address, list(setup.services))
    if profile is None:
        text = "A profile needs a service to read mail and one to send it: the mailbox or the settings allow none."
        raise Conflict(text, reason="no_mail_services")
    return profile


def names_of_host(host: str) -> list[str]:
    """The domains that a Host field may be about: the domain itself, or without `autoconfig.` or `autodiscover.`."""
    name = host.partition(":")[0].lower().removesuffix(".")
    return _normalize([name, *(name.removeprefix(start) for start in _HOSTS if name.startswith(start))])


def names_of_address(address: str) -> list[str]:
    """The domain of an address, in canonical form; empty if it has none."""
    return _normalize([address.rpartition("@")[2]])


def _normalize(texts: list[str]) -> list[str]:
    names: list[str] = []
    for text in texts:
        try:
            names.append(normalize_domain(text, min_labels=2))
        except AddressError:
            pass
    return names


def is_about_one_domain(host: str) -> bool:
    """Whether the Host field alone says which domain is meant."""
    return host.lower().startswith(_HOSTS)


def login_of(setup: DomainSetup, address: str) -> str:
    """The user name of an address in the domain."""
    local_part, _, _ = address.rpartition("@")
    return address if setup.login_domain == setup.domain else f"{local_part}@{setup.login_domain}"


def derive_token(vault: Vault, link_id: UUID) -> str:
    """The token of a link: 43 characters that only the master secret yields."""
    return vault.sign("setup link", link_id.bytes)


def link_url(public_url: str, token: str) -> str:
    """The link with this token."""
    return public_url.removesuffix("/") + PAGE_PATH.format(token=token)


def draw_qr(text: str) -> bytes:
    """A QR code as SVG: dark on light in both colour schemes, since readers need that."""
    output = BytesIO()
    segno.make_qr(text, error="m").save(
        output, kind="svg", scale=4, border=4, dark="#000", light="#fff", xmldecl=False, svgclass=None, lineclass=None,
        omitsize=True, title="QR code",
    )  # fmt: skip
    return output.getvalue()


def draw_qr_text(text: str) -> str:
    """A QR code for a terminal."""
    output = StringIO()
    segno.make_qr(text, error="m").terminal(output, compact=True)
    return output.getvalue()


def setup_page(setup: ClientSetup, url: str, me_url: str, expires_at: datetime) -> tuple[str, str]:
    """The page of a link. `url`: its own; `me_url`: where the owner signs in."""
    address = escape(setup.address)
    parts = [
        f"<p>Account: <strong>{address}</strong>. The user name is the whole address. {_password(setup, me_url)}</p>",
        _apple(setup, url),
        "<h2>Thunderbird, Outlook and others</h2>",
        "<p>Add an account with your name and this address. The program finds the servers by itself.</p>",
        "<h2>Settings to enter by hand</h2>",
        f"<table>{_rows(setup)}</table>" if setup.services else "<p>All mail protocols of the mailbox are off.</p>",
        f"<h2>On another device</h2><p>Scan this code to open the page there.</p>{draw_qr(url).decode()}",
        f"<p><small>The link works until {expires_at:%Y-%m-%d %H:%M} UTC. It contains no password.</small></p>",
    ]
    return "Set up your mail", "".join(parts)


def _password(setup: ClientSetup, me_url: str) -> str:
    page = f'<a href="{escape(me_url)}">your mailbox page</a>'
    if setup.app_password_required:
        return f"The password must be an app password: create one on {page}."
    return f"The password is that of the mailbox, or an app password, which you create on {page}."


def _apple(setup: ClientSetup, url: str) -> str:
    if make_profile(setup.address, list(setup.services)) is None:
        return ""
    return (
        "<h2>iPhone, iPad and Mac</h2><p>Install the profile, then open Settings: it is under “Profile Downloaded”. "
        "The device asks for the password.</p>"
        f'<p><a class="button" href="{escape(url)}/mail.mobileconfig">Download profile</a></p>'
    )


def _rows(setup: ClientSetup) -> str:
    """One for each protocol, with the alternative to the preferred port."""
    rows: list[str] = []
    for protocol, services in groupby(setup.services, lambda each: each.protocol):
        found = list(services)
        ports = ", or ".join(f"port {each.port} ({_SECURITY[each.security]})" for each in found)
        rows.append(f"<tr><th scope=row>{_TITLES[protocol]}</th><td>{escape(found[0].host)}<br>{ports}</td></tr>")
    return "".join(rows)


def invalid_page() -> tuple[str, str]:
    """The page for a link that has expired, or was replaced or never made."""
    text = "<p>It has expired or was replaced. Create a new one on your mailbox page, or ask your administrator.</p>"
    return "This link does not work any more", text
