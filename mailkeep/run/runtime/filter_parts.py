"""Whether the parts of the filter answer, asked as Postfix, Rspamd and Dovecot ask them."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import dns.asyncquery
import dns.exception
import dns.message

from mailkeep.mail.daemons import scanning
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.net.dns_query import DnsQuery
from mailkeep.settings import Settings, parse_dns_servers

PROBLEMS: Mapping[str, str] = {
    "keys": "The process keys does not answer the filter: incoming mail is not refused by score or list, and mail that "
    "is sent waits. See log/keys.log and log/rspamd.log.",
    "rspamd": "Rspamd does not answer: incoming mail waits at its senders, and mail that is sent waits. See "
    "log/rspamd.log.",
    "policy": "The process policy does not answer: incoming mail, and mail of mail clients, waits at its senders. See "
    "log/policy.log.",
    "learner": "The process learner does not answer: moves to Junk and out of it teach the filter nothing. See "
    "log/learner.log.",
    "dns": "No name server of the filter answers: senders are not authenticated, and DNS lists do not count. See "
    "filter.dns_servers and dns.servers.",
}
"""The parts, and what is wrong while they do not answer."""

_ANSWER_SECONDS = 5.0
_DNS_TRIES = 2
# Negotiation of a milter: version 6, all actions and all steps (libmilter's SMFIC_OPTNEG).
_MILTER_OPTIONS = struct.pack(">IcIII", 13, b"O", 6, 0x1FF, 0x1FFFFF)


async def find_silent(settings: Settings, paths: InstancePaths) -> set[str]:
    """The parts that do not answer within five seconds."""
    asked = _list_questions(paths)
    if settings.filter.network_checks:
        asked["dns"] = lambda: _dns_answers(scanning.list_dns_servers(settings, paths))
    answers = await asyncio.gather(*(_limit(answers()) for answers in asked.values()))
    return {part for part, has_answered in zip(asked, answers, strict=True) if not has_answered}


async def does_not_hang(paths: InstancePaths, part: str) -> bool:
    """Whether a process answers within five seconds, or is not there at all."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            await _list_questions(paths)[part]()
    except TimeoutError:
        return False
    except (OSError, asyncio.IncompleteReadError):
        pass
    return True


def _list_questions(paths: InstancePaths) -> dict[str, Callable[[], Awaitable[bool]]]:
    return {
        "keys": lambda: _keys_answers(paths.keys_socket),
        "rspamd": lambda: _rspamd_answers(paths.scan_socket),
        "policy": lambda: _policy_answers(paths.policy_socket),
        "learner": lambda: _learner_answers(paths.learn_socket),
    }


async def _limit(answers: Awaitable[bool]) -> bool:
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            return await answers
    except (OSError, TimeoutError, asyncio.IncompleteReadError):
        return False


@asynccontextmanager
async def _connect(path: Path) -> AsyncGenerator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_unix_connection(path)
    try:
        yield reader, writer
    finally:
        writer.close()


async def _keys_answers(path: Path) -> bool:
    async with _connect(path) as (reader, writer):
        writer.write(b"/ping/\n")
        return (await reader.readline()).startswith(b"200 ")


async def _rspamd_answers(path: Path) -> bool:
    async with _connect(path) as (reader, writer):
        writer.write(_MILTER_OPTIONS)
        return (await reader.readexactly(5))[4:] == b"O"


async def _policy_answers(path: Path) -> bool:
    async with _connect(path) as (reader, writer):
        writer.write(b"request=smtpd_access_policy\nprotocol_state=CONNECT\n\n")
        return (await reader.readline()).startswith(b"action=")


async def _learner_answers(path: Path) -> bool:
    """The process ends a connection without a request."""
    async with _connect(path) as (reader, writer):
        writer.write_eof()
        return await reader.read() == b""


async def _dns_answers(servers: list[str]) -> bool:
    """Whether one of the name servers answers, with whatever result."""
    answers = await asyncio.gather(*map(_one_answers, DnsQuery(parse_dns_servers(servers)).servers()))
    return any(answers)


async def _one_answers(server: tuple[str, int]) -> bool:
    query = dns.message.make_query("localhost.", "A")
    for _ in range(_DNS_TRIES):
        try:
            await dns.asyncquery.udp(query, server[0], port=server[1], timeout=_ANSWER_SECONDS / _DNS_TRIES)
        except dns.exception.Timeout:
            continue
        except (OSError, dns.exception.DNSException):
            return False
        return True
    return False
