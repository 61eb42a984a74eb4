"""Autodiscover as Outlook uses it without Exchange: plain old XML ([MS-OXDSCLI]), and JSON version 2, which refers to
it.

Only the schema for mail programs is known (`outlook/responseschema/2006a`). A request for another one, such as that of
Exchange ActiveSync, gets the error 601 of the protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from mailkeep.mail.client_setup.services import MailService, find_preferred

XML_PATH = "/autodiscover/autodiscover.xml"
JSON_PATHS = ("/autodiscover/autodiscover.json", "/autodiscover/autodiscover.json/v1.0/{address}")
MAX_REQUEST_BYTES = 16 << 10
JSON_PROTOCOL = "Autodiscoverv1"

_SCHEMAS = "http://schemas.microsoft.com/exchange/autodiscover/"
_REQUEST = f"{{{_SCHEMAS}outlook/requestschema/2006}}"
_ACCEPTED = f"{_SCHEMAS}outlook/responseschema/2006a"
_MAX_ADDRESS = 320
_ENCRYPTION = {"tls": "SSL", "starttls": "TLS"}


class RequestError(ValueError):
    """The request is not one of Autodiscover; the text says why."""


class UnknownSchemaError(RequestError):
    """The request is valid, but wants another schema than that for mail programs."""


def parse_request(body: bytes) -> str:
    """The address in a request, as it was sent. Raises RequestError for anything else, and never another exception."""
    try:
        root = fromstring(body, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):  # LookupError: an unknown encoding
        raise RequestError("the body is not valid XML without a DTD") from None
    request = _find(root)
    schema = request.findtext(f"{_REQUEST}AcceptableResponseSchema")
    if schema is not None and schema.strip() != _ACCEPTED:
        raise UnknownSchemaError(f"AcceptableResponseSchema must be {_ACCEPTED}")
    address = (request.findtext(f"{_REQUEST}EMailAddress") or "").strip()
    if not address or len(address) > _MAX_ADDRESS or "@" not in address:
        raise RequestError("the element EMailAddress is missing, or it holds no address")
    return address


def _find(root: Element) -> Element:
    request = root.find(f"{_REQUEST}Request") if root.tag == f"{_REQUEST}Autodiscover" else None
    if request is None:
        if root.tag.endswith("}Autodiscover") and root.tag.startswith(f"{{{_SCHEMAS}"):
            raise UnknownSchemaError("only the request schema of Outlook is known")
        raise RequestError(f"the body must be an element Autodiscover of {_REQUEST[1:-1]} with a Request")
    return request


def compose(address: str, login: str, services: Sequence[MailService]) -> bytes:
    """The response for an address, which signs in as `login`: the preferred service of each protocol."""
    preferred = [find_preferred(services, protocol) for protocol in ("imap", "pop3", "smtp")]
    protocols = "".join(_protocol(each, login) for each in preferred if each is not None)
    return _document(
        f'<Response xmlns="{_ACCEPTED}"><User><DisplayName>{escape(address)}</DisplayName></User>'
        f"<Account><AccountType>email</AccountType><Action>settings</Action>{protocols}</Account></Response>"
    )


def _protocol(service: MailService, login: str) -> str:
    fields = {
        "Type": service.protocol.upper(),
        "Server": service.host,
        "Port": str(service.port),
        "LoginName": login,
        "DomainRequired": "off",
        "SPA": "off",
        "SSL": "on",
        "Encryption": _ENCRYPTION[service.security],
        "AuthRequired": "on",
    }
    if service.protocol == "smtp":
        fields |= {"UsePOPAuth": "off", "SMTPLast": "off"}
    elements = "".join(f"<{name}>{escape(text)}</{name}>" for name, text in fields.items())
    return f"<Protocol>{elements}</Protocol>"


def compose_unknown_schema(time: str) -> bytes:
    """The response to a request that wants another schema. `time`: of day, HH:MM:SS."""
    return _document(
        f'<Response><Error Time="{time}" Id="0"><ErrorCode>601</ErrorCode>'
        "<Message>This schema is not available.</Message><DebugData /></Error></Response>"
    )


def _document(content: str) -> bytes:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<Autodiscover xmlns="{_SCHEMAS}responseschema/2006">{content}</Autodiscover>\n'
    ).encode()


def xml_url(domain: str) -> str:
    """Where the XML of a domain is, for the response in JSON."""
    return f"https://autodiscover.{domain}{XML_PATH}"
