"""Parses command lines of SMTP and LMTP. No I/O: a line in, a command or the reply that rejects it out.

Grammar: RFC 5321 §4.1 (commands, paths), RFC 1870 (SIZE), RFC 6152 (8BITMIME), RFC 6531 (SMTPUTF8),
RFC 2033 (LMTP); from our own MTA RFC 3461 (DSN) and XFORWARD (https://www.postfix.org/XFORWARD_README.html).
Paths keep their raw text `local@domain`, without normalization. Stricter than the RFC: source routes are rejected, not
skipped, so that two parsers of a path can't disagree on its mailbox. More lenient: spaces after `FROM:` and `TO:` and
underscores in host names are accepted, because both are common.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mailkeep.mail.smtp.reply import SmtpReply

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\u00a0-\U0010ffff-]+"
_QUOTED = r'"(?:[ !#-\[\]-~\u00a0-\U0010ffff]|\\[ -~])*"'
_LABEL = r"[A-Za-z0-9_\u00a0-\U0010ffff](?:[A-Za-z0-9_\u00a0-\U0010ffff-]*[A-Za-z0-9_\u00a0-\U0010ffff])?"
_LITERAL = r"\[[!-Z^-~]+\]"
_MAILBOX = rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{_LABEL}(?:\.{_LABEL})*|{_LITERAL})"
_PATH = re.compile(rf"<({_MAILBOX})>")
_PARAMETER = re.compile(r"([A-Za-z0-9][A-Za-z0-9-]*)(?:=([!-<>-~]+))?")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_NUMBER = re.compile(r"[0-9]{1,20}")
_XTEXT = re.compile(rb"\+([0-9A-F]{2})")

MAX_LOCAL = 255  # RFC 5321 §4.5.3.1.1 says 64, which bounce addresses with a return path in them exceed
MAX_DOMAIN = 255

HelloVerb = Literal["HELO", "EHLO", "LHLO"]
PlainVerb = Literal["DATA", "RSET", "NOOP", "QUIT", "VRFY"]


@dataclass(frozen=True, slots=True)
class Hello:
    """HELO, EHLO or LHLO with the client's name."""

    verb: HelloVerb
    name: str


@dataclass(frozen=True, slots=True)
class Mail:
    """MAIL FROM: the reverse path (empty for `<>`) and the parameters; `size` in bytes, if declared."""

    path: str
    size: int | None = None
    body: Literal["7BIT", "8BITMIME"] | None = None
    smtputf8: bool = False


@dataclass(frozen=True, slots=True)
class Rcpt:
    """RCPT TO: the forward path as written, `local@domain`, or `postmaster`; `original` is the address in ORCPT."""

    path: str
    original: str | None = None


@dataclass(frozen=True, slots=True)
class Xforward:
    """XFORWARD: attributes of the original client and message from our own MTA, by upper-case name."""

    attributes: dict[str, str]


@dataclass(frozen=True, slots=True)
class PlainCommand:
    """A command whose argument is ignored."""

    verb: PlainVerb


Command = Hello | Mail | Rcpt | Xforward | PlainCommand

UNKNOWN = SmtpReply(500, "5.5.2", "Command not recognized")
NOT_IMPLEMENTED = SmtpReply(502, "5.5.1", "Command not implemented")
HTTP_REFUSED = SmtpReply(521, "5.7.0", "This is a mail server, HTTP is not accepted")
UNPRINTABLE = SmtpReply(500, "5.5.2", "Control characters in a command")
NO_ARGUMENT = SmtpReply(501, "5.5.4", "No argument allowed")
ARGUMENT_MISSING = SmtpReply(501, "5.5.4", "Argument missing")
BAD_UTF8 = SmtpReply(501, "5.5.2", "Command is not UTF-8")
BAD_PATH_SYNTAX = SmtpReply(501, "5.5.2", "Syntax: MAIL FROM:<address> or RCPT TO:<address>")
UTF8_UNDECLARED = SmtpReply(553, "5.6.7", "Address needs SMTPUTF8")
BAD_PARAMETER = SmtpReply(501, "5.5.4", "Invalid or repeated parameter")
UNKNOWN_PARAMETER = SmtpReply(555, "5.5.4", "Parameter not recognized")

# A web page can make a browser send HTTP to a mail port. The lines after these must not be read as commands.
_HTTP_METHODS = frozenset({b"GET", b"POST", b"PUT", b"HEAD", b"PATCH", b"DELETE", b"OPTIONS", b"CONNECT", b"PRI"})
_NOT_IMPLEMENTED = frozenset({b"EXPN", b"HELP", b"TURN", b"ETRN", b"BDAT", b"AUTH", b"STARTTLS", b"ATRN"})


def parse_command(line: bytes, *, smtputf8: bool = False, mta_extensions: bool = False) -> Command | SmtpReply:
    """Parse a line (without CRLF). Returns the reply that rejects it if it is invalid; never raises.

    `smtputf8`: the transaction declared SMTPUTF8, so that RCPT may contain UTF-8. `mta_extensions`: XFORWARD and
    the parameters of DSN are accepted.
    """
    verb, _, argument = line.partition(b" ")
    verb = verb.upper()
    parser = (_MTA_PARSERS if mta_extensions else _PARSERS).get(verb)
    if parser is None:
        if verb in _HTTP_METHODS:
            return HTTP_REFUSED
        return NOT_IMPLEMENTED if verb in _NOT_IMPLEMENTED else UNKNOWN
    try:
        text = argument.decode("utf-8")
    except UnicodeDecodeError:
        return BAD_UTF8
    if _CONTROL.search(text):
        return UNPRINTABLE
    return parser(text.strip(" "), smtputf8)


def is_mailbox(text: str, *, smtputf8: bool) -> bool:
    """Whether `text` is a mailbox (RFC 5321) that can be written unchanged in the `<…>` of a command."""
    if not text.isascii() and (not smtputf8 or _CONTROL.search(text)):
        return False
    return _PATH.fullmatch(f"<{text}>") is not None and _within_lengths(text)


def _hello_parser(verb: HelloVerb) -> Callable[[str, bool], Command | SmtpReply]:
    def parse(text: str, _: bool) -> Command | SmtpReply:
        if not text:
            return ARGUMENT_MISSING
        if " " in text or not text.isascii() or len(text) > MAX_DOMAIN:
            return SmtpReply(501, "5.5.4", "Invalid host name")
        return Hello(verb, text)

    return parse


def _plain_parser(
    verb: PlainVerb, argument: Literal["forbidden", "optional", "required"]
) -> Callable[[str, bool], Command | SmtpReply]:
    command = PlainCommand(verb)

    def parse(text: str, _: bool) -> Command | SmtpReply:
        if text and argument == "forbidden":
            return NO_ARGUMENT
        return ARGUMENT_MISSING if argument == "required" and not text else command

    return parse


def _parse_mail(text: str, _: bool) -> Command | SmtpReply:
    if text[:5].upper() != "FROM:":
        return BAD_PATH_SYNTAX
    text = text[5:].lstrip(" ")
    if text.startswith("<>"):
        path, rest = "", text[2:]
    else:
        parsed = _parse_path(text, enhanced="5.1.7")
        if isinstance(parsed, SmtpReply):
            return parsed
        path, rest = parsed
    command = _parse_mail_parameters(path, rest)
    if isinstance(command, Mail) and not command.smtputf8 and not path.isascii():
        return UTF8_UNDECLARED
    return command


def _parse_rcpt(text: str, smtputf8: bool) -> Command | SmtpReply:
    parsed = _parse_rcpt_path(text, smtputf8)
    if isinstance(parsed, SmtpReply):
        return parsed
    path, rest = parsed
    if rest:
        return UNKNOWN_PARAMETER if rest.startswith(" ") else BAD_PATH_SYNTAX
    return Rcpt(path)


def _parse_rcpt_from_mta(text: str, smtputf8: bool) -> Command | SmtpReply:
    parsed = _parse_rcpt_path(text, smtputf8)
    if isinstance(parsed, SmtpReply):
        return parsed
    path, rest = parsed
    parameters = _parse_parameters(rest)
    if parameters is None or not parameters.keys() <= {"ORCPT", "NOTIFY"}:
        return BAD_PARAMETER
    kind, _, original = (parameters.get("ORCPT") or "").partition(";")
    return Rcpt(path, _decode_xtext(original) if kind.lower() in ("rfc822", "utf-8") and original else None)


def _parse_xforward(text: str, _: bool) -> Command | SmtpReply:
    attributes: dict[str, str] = {}
    for word in filter(None, text.split(" ")):
        name, equals, value = word.partition("=")
        if not equals or not name.isascii() or not name.isalpha():
            return BAD_PARAMETER
        if value.upper() not in ("[UNAVAILABLE]", "[TEMPUNAVAIL]"):
            attributes[name.upper()] = _decode_xtext(value)
    return Xforward(attributes) if text else ARGUMENT_MISSING


def _decode_xtext(text: str) -> str:
    """Decode xtext (RFC 3461 §4). Control characters become `?`."""
    raw = _XTEXT.sub(lambda match: bytes.fromhex(match[1].decode("ascii")), text.encode())
    return _CONTROL.sub("?", raw.decode("utf-8", "replace"))


def _parse_rcpt_path(text: str, smtputf8: bool) -> tuple[str, str] | SmtpReply:
    """Return the path of RCPT and the text after it."""
    if text[:3].upper() != "TO:":
        return BAD_PATH_SYNTAX
    text = text[3:].lstrip(" ")
    if text[:12].lower() == "<postmaster>":  # RFC 5321 §4.1.1.3: without a domain, in any case
        path, rest = "postmaster", text[12:]
    else:
        parsed = _parse_path(text, enhanced="5.1.3")
        if isinstance(parsed, SmtpReply):
            return parsed
        path, rest = parsed
    if not smtputf8 and not path.isascii():
        return UTF8_UNDECLARED
    return path, rest


def _parse_path(text: str, *, enhanced: str) -> tuple[str, str] | SmtpReply:
    """Return the mailbox in `<…>` at the start of `text`, and the text after it."""
    if match := _PATH.match(text):
        if not _within_lengths(match[1]):
            return SmtpReply(553, enhanced, "Address too long")
        return match[1], text[match.end() :]
    if text.startswith("<@"):
        return SmtpReply(553, enhanced, "Source routes are not accepted")
    if text.startswith("<") and ">" in text:
        return SmtpReply(501, enhanced, "Invalid address")
    return BAD_PATH_SYNTAX


def _within_lengths(mailbox: str) -> bool:
    if len(mailbox) <= 64:  # at most 4 bytes per character in UTF-8: within both limits
        return True
    local, _, domain = mailbox.rpartition("@")
    return len(local.encode()) <= MAX_LOCAL and len(domain.encode()) <= MAX_DOMAIN


def _parse_mail_from_mta(text: str, smtputf8: bool) -> Command | SmtpReply:
    """MAIL with the parameters of DSN, which are ignored."""
    words = [word for word in text.split(" ") if not word.upper().startswith(("RET=", "ENVID="))]
    return _parse_mail(" ".join(words), smtputf8)


def _parse_parameters(rest: str) -> dict[str, str | None] | None:
    """Parse parameters, by upper-case name. None: invalid, or a parameter is repeated."""
    parameters: dict[str, str | None] = {}
    for word in filter(None, rest.split(" ")):
        match = _PARAMETER.fullmatch(word)
        if match is None or match[1].upper() in parameters:
            return None
        parameters[match[1].upper()] = match[2]
    return parameters


def _parse_mail_parameters(path: str, rest: str) -> Mail | SmtpReply:
    if not rest:
        return Mail(path)
    if not rest.startswith(" "):
        return BAD_PATH_SYNTAX
    parameters = _parse_parameters(rest)
    if parameters is None:
        return BAD_PARAMETER
    if not parameters.keys() <= {"SIZE", "BODY", "SMTPUTF8"}:
        return UNKNOWN_PARAMETER
    size = parameters.get("SIZE", "0")
    body = (parameters.get("BODY", "7BIT") or "").upper()
    if size is None or not _NUMBER.fullmatch(size) or parameters.get("SMTPUTF8") is not None:
        return BAD_PARAMETER
    if body != "7BIT" and body != "8BITMIME":
        return BAD_PARAMETER
    return Mail(
        path,
        int(size) if "SIZE" in parameters else None,
        body if "BODY" in parameters else None,
        "SMTPUTF8" in parameters,
    )


_PARSERS: dict[bytes, Callable[[str, bool], Command | SmtpReply]] = {
    b"HELO": _hello_parser("HELO"),
    b"EHLO": _hello_parser("EHLO"),
    b"LHLO": _hello_parser("LHLO"),
    b"MAIL": _parse_mail,
    b"RCPT": _parse_rcpt,
    b"DATA": _plain_parser("DATA", "forbidden"),
    b"RSET": _plain_parser("RSET", "forbidden"),
    b"NOOP": _plain_parser("NOOP", "optional"),
    b"QUIT": _plain_parser("QUIT", "forbidden"),
    b"VRFY": _plain_parser("VRFY", "required"),
}
_MTA_PARSERS: dict[bytes, Callable[[str, bool], Command | SmtpReply]] = _PARSERS | {
    b"MAIL": _parse_mail_from_mta,
    b"RCPT": _parse_rcpt_from_mta,
    b"XFORWARD": _parse_xforward,
}
