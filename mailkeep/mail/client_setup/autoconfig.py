"""Mozilla's config-v1.1.xml."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from mailkeep.mail.client_setup.services import MailService

PATHS = ("/mail/config-v1.1.xml", "/.well-known/autoconfig/mail/config-v1.1.xml")
"""At `autoconfig.DOMAIN`, and at the domain itself."""
_SOCKET = {"tls": "SSL", "starttls": "STARTTLS"}


def compose(domain: str, login_domain: str, services: Sequence[MailService]) -> bytes:
    """The document for a domain, whose users sign in with their local part in `login_domain`. The program replaces the
    names in percent signs.
    """
    login = "%EMAILADDRESS%" if login_domain == domain else f"%EMAILLOCALPART%@{login_domain}"
    incoming = [_server("incomingServer", each, login) for each in services if each.protocol in ("imap", "pop3")]
    outgoing = [_server("outgoingServer", each, login) for each in services if each.protocol == "smtp"]
    name = escape(domain)
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<clientConfig version="1.1">\n  <emailProvider id="{name}">\n'
        f"    <domain>{name}</domain>\n    <displayName>{name}</displayName>\n"
        f"    <displayShortName>{name}</displayShortName>\n{''.join([*incoming, *outgoing])}"
        "  </emailProvider>\n</clientConfig>\n"
    ).encode()


def _server(element: str, service: MailService, login: str) -> str:
    fields = {
        "hostname": service.host,
        "port": str(service.port),
        "socketType": _SOCKET[service.security],
        "authentication": "password-cleartext",  # inside TLS
        "username": login,
    }
    lines = "".join(f"      <{name}>{escape(text)}</{name}>\n" for name, text in fields.items())
    return f'    <{element} type="{service.protocol}">\n{lines}    </{element}>\n'
