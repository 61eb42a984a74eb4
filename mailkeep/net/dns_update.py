"""Changes of DNS records by DNS UPDATE (RFC 2136), over TCP, signed with a TSIG key (RFC 8945).

Each change is one message with prerequisites (§2.4): it takes effect only if the records are still those that were read
before, so that a record that somebody else publishes meanwhile is never touched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

import dns.asyncquery
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdataset
import dns.rdatatype
import dns.tsig
import dns.update

from mailkeep.core.errors import Failure
from mailkeep.net.dns_query import read_texts

_SECONDS = 10.0
_TTL = 3600  # seconds
_MAX_TEXT = 255  # octets of a string of a TXT record

Algorithm = Literal["hmac-sha256", "hmac-sha384", "hmac-sha512"]


class DnsUpdateError(Failure):
    """A look-up or change failed; the message says why, in plain words."""


class RecordsChanged(DnsUpdateError):
    """A prerequisite was not met: the records are not those that were read."""


@dataclass(frozen=True, slots=True)
class PrimaryServer:
    """The name server that accepts updates, and the TSIG key; `secret` in base64."""

    address: str
    port: int
    key_name: str
    algorithm: Algorithm
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RecordChange:
    """A change of the records of a name and type: values in presentation format, TXT as one piece. A name in a value is
    absolute, with or without a trailing dot.

    `expected`: the `rows` that are there before; if there are none, there is no CNAME either, and for a new CNAME
    nothing at all.
    """

    name: str
    type: str
    expected: tuple[str, ...]
    add: tuple[str, ...]
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedRecords:
    """The records of a name and type at the primary server. `cname`: the name is a CNAME to this one. `rows`: exactly
    as in a zone file, with the pieces and octets of TXT.
    """

    values: tuple[str, ...]
    cname: str = ""
    rows: tuple[str, ...] = ()


async def find_zone(server: PrimaryServer, name: str) -> str:
    """The zone of a name at the primary server, by its SOA record. DnsUpdateError if the server has none."""
    response = await _exchange(server, _query(server, name, "SOA", signed=False))  # REFUSED comes without a signature
    if response.flags & dns.flags.AA:
        for rrset in (*response.answer, *response.authority):
            if rrset.rdtype == dns.rdatatype.SOA:
                return rrset.name.to_text(omit_final_dot=True).lower()
    raise DnsUpdateError(f"The name server is not authoritative for {name}.")


async def read(server: PrimaryServer, name: str, record_type: str) -> PublishedRecords:
    """The records of a name and type, without following a CNAME."""
    query = _query(server, name, record_type)
    response = await _exchange(server, query)
    asked = query.question[0].name
    if response.rcode() not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
        raise DnsUpdateError(_explain(response.rcode(), name))
    alias = response.get_rrset(response.answer, asked, dns.rdataclass.IN, dns.rdatatype.CNAME)
    if alias is not None and record_type != "CNAME":
        return PublishedRecords((), read_texts(alias)[0])
    rrset = response.get_rrset(response.answer, asked, dns.rdataclass.IN, dns.rdatatype.from_text(record_type))
    if rrset is None:
        return PublishedRecords(())
    rows = cast(Sequence[dns.rdata.Rdata], list(rrset))
    return PublishedRecords(tuple(read_texts(rows)), rows=tuple(row.to_text() for row in rows))


async def apply(server: PrimaryServer, zone: str, change: RecordChange) -> None:
    """Make a change. RecordsChanged if other records are there meanwhile; DnsUpdateError."""
    update = dns.update.UpdateMessage(_name(zone), keyring=_key(server))
    name, kind = _name(change.name), dns.rdatatype.from_text(change.type)
    if change.expected:
        rows = [_parse(change.type, row) for row in change.expected]
        update.present(name, dns.rdataset.from_rdata_list(0, rows))  # §2.4.2: TTL 0
    elif change.type == "CNAME":
        update.absent(name)
    else:
        update.absent(name, kind)
        update.absent(name, dns.rdatatype.CNAME)
    for value in change.remove:
        update.delete(name, _rdata(change.type, value))
    if change.add:
        update.add(name, dns.rdataset.from_rdata_list(_TTL, [_rdata(change.type, value) for value in change.add]))
    response = await _exchange(server, update)
    code = response.rcode()
    if code in (dns.rcode.YXDOMAIN, dns.rcode.YXRRSET, dns.rcode.NXDOMAIN, dns.rcode.NXRRSET):
        raise RecordsChanged(f"Other records are at {change.name} ({dns.rcode.to_text(code)}).")
    if code != dns.rcode.NOERROR:
        raise DnsUpdateError(_explain(code, zone))


def _explain(code: dns.rcode.Rcode, subject: str) -> str:
    text = dns.rcode.to_text(code)
    meaning = {
        dns.rcode.REFUSED: f"The name server refuses updates of {subject} with this TSIG key",
        dns.rcode.NOTAUTH: f"The name server is not authoritative for {subject}, or does not accept the TSIG key",
        dns.rcode.NOTZONE: f"A name is not in the zone {subject}",
        dns.rcode.NOTIMP: "The name server does not support DNS UPDATE",
        dns.rcode.SERVFAIL: f"The name server could not process the request for {subject}",
    }.get(code, f"The name server refused the request for {subject}")
    return f"{meaning} ({text})."


def _query(server: PrimaryServer, name: str, record_type: str, *, signed: bool = True) -> dns.message.QueryMessage:
    query = dns.message.make_query(_name(name), record_type)
    query.flags &= ~dns.flags.RD
    if signed:
        query.use_tsig(_key(server))
    return query


async def _exchange(server: PrimaryServer, message: dns.message.Message) -> dns.message.Message:
    key = server.key_name
    try:
        async with asyncio.timeout(_SECONDS):
            return await dns.asyncquery.tcp(message, server.address, port=server.port)
    except (TimeoutError, dns.exception.Timeout):
        raise DnsUpdateError(f"The name server {server.address} does not answer in time.") from None
    except (dns.tsig.PeerBadKey, dns.message.UnknownTSIGKey):
        text = (
            f"The name server does not accept the TSIG key {key} (BADKEY): it does not know it, not with "
            f"{server.algorithm}, or not for this zone."
        )
        raise DnsUpdateError(text) from None
    except (dns.tsig.PeerBadSignature, dns.tsig.BadSignature):
        raise DnsUpdateError(f"The secret of the TSIG key {key} is not the name server's (BADSIG).") from None
    except (dns.tsig.PeerBadTime, dns.tsig.BadTime):
        text = "The clocks of the name server and of this server differ by more than 5 minutes (BADTIME)."
        raise DnsUpdateError(text) from None
    except dns.exception.DNSException as error:
        raise DnsUpdateError(f"The name server's answer is not valid: {type(error).__name__}.") from error
    except EOFError:
        raise DnsUpdateError("The name server closed the connection.") from None
    except OSError as error:
        text = f"The name server {server.address} can't be reached: {error.strerror or error}."
        raise DnsUpdateError(text) from error


def _key(server: PrimaryServer) -> dns.tsig.Key:
    return dns.tsig.Key(server.key_name, server.secret, server.algorithm)


def _name(text: str) -> dns.name.Name:
    try:
        return dns.name.from_text(text)
    except dns.exception.DNSException:
        raise DnsUpdateError(f"{text} is no name that DNS can express.") from None


def _rdata(record_type: str, value: str) -> dns.rdata.Rdata:
    if record_type == "TXT":
        octets = value.encode()
        pieces = [octets[start : start + _MAX_TEXT] for start in range(0, len(octets) or 1, _MAX_TEXT)]
        value = " ".join(f'"{_escape(piece)}"' for piece in pieces)
    return _parse(record_type, value)


def _parse(record_type: str, row: str) -> dns.rdata.Rdata:
    return dns.rdata.from_text(dns.rdataclass.IN, dns.rdatatype.from_text(record_type), row, dns.name.root, False)


def _escape(octets: bytes) -> str:
    """Octets as a quoted string of a zone file (RFC 1035 §5.1)."""
    return "".join(chr(each) if 32 <= each < 127 and each not in b'"\\' else f"\\{each:03}" for each in octets)
