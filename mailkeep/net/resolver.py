"""The addresses of a host: asked for once, by `dns.servers` where these are set, else by the system.

`dns.servers` are asked after /etc/hosts, all in all for 3 seconds. Nothing is cached here, nor a search list used.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import dns.asyncresolver
import dns.exception
import dns.name
import dns.nameserver
import dns.resolver

from mailkeep.net.guard import Address

LOOKUP_SECONDS = 3.0
MAX_ADDRESSES = 16
_HOSTS = Path("/etc/hosts")
_SYSTEM_LOOKUPS = 32
_MAX_HOSTS_BYTES = 1 << 20


class DnsLookupError(Exception):
    """A host has no address that we could learn; the message says why."""


class Resolver:
    """Looks hosts up: `servers` are (address, port) pairs, none for the system's own way."""

    def __init__(self, servers: Sequence[tuple[str, int]] = (), hosts: Path = _HOSTS) -> None:
        self._servers = tuple(servers)
        self._hosts = hosts
        self._places = asyncio.Semaphore(_SYSTEM_LOOKUPS)

    async def resolve(self, name: str) -> list[Address]:
        """A name's addresses, IPv4 and IPv6, at most 16; LookupFailed where there is none, or none in time."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                found = await (self._by_servers(name) if self._servers else self._by_system(name))
        except TimeoutError as error:
            raise DnsLookupError(f"no answer within {LOOKUP_SECONDS:.0f} s") from error
        if not found:
            raise DnsLookupError("the name has no address")
        return found[:MAX_ADDRESSES]

    async def reverse(self, address: Address) -> list[str]:
        """The names of an address by its PTR records, lower-case without the trailing dot, empty where it has none.

        LookupFailed where nobody answers in time. Asked of the system's name servers where there are no `servers`.
        """
        resolver = self._dns_resolver()
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                answer = await resolver.resolve(
                    dns.name.from_text(f"{address.reverse_pointer}."), "PTR", search=False, raise_on_no_answer=False
                )
        except dns.resolver.NXDOMAIN:
            return []
        except (dns.exception.DNSException, OSError, TimeoutError) as error:
            raise DnsLookupError(f"PTR could not be looked up: {str(error) or 'no answer in time'}") from error
        rows = cast(Sequence[object], answer.rrset or ())
        return sorted(str(row).rstrip(".").lower() for row in rows)

    def _dns_resolver(self) -> dns.asyncresolver.Resolver:
        resolver = dns.asyncresolver.Resolver(configure=not self._servers)
        if self._servers:
            resolver.nameservers = [dns.nameserver.Do53Nameserver(address, port) for address, port in self._servers]
        resolver.lifetime, resolver.timeout = LOOKUP_SECONDS, LOOKUP_SECONDS / 2
        return resolver

    async def _by_system(self, name: str) -> list[Address]:
        """In a thread of its own, one of at most 32: the system's look-up blocks, beyond our patience too.

        Such threads take none of those that others compute in, and nobody waits for them when the process ends.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def tell(found: list[str] | OSError) -> None:
            self._places.release()
            if not answer.done():
                answer.set_exception(found) if isinstance(found, OSError) else answer.set_result(found)

        def ask() -> None:
            found = _getaddrinfo(name)
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(tell, found)

        await self._places.acquire()
        threading.Thread(target=ask, name="lookup", daemon=True).start()
        try:
            rows = await answer
        except OSError as error:
            raise DnsLookupError(error.strerror or "the name is unknown") from error
        return list(dict.fromkeys(ipaddress.ip_address(row) for row in rows))

    async def _by_servers(self, name: str) -> list[Address]:
        listed = self._lookup_hosts_file(name)
        if listed:
            return listed
        resolver = self._dns_resolver()
        answers = await asyncio.gather(
            *(_query(resolver, name, kind) for kind in ("A", "AAAA")), return_exceptions=True
        )
        found = [address for answer in answers if not isinstance(answer, BaseException) for address in answer]
        for answer in answers:
            if isinstance(answer, BaseException) and not (found and isinstance(answer, DnsLookupError)):
                raise answer
        return found

    def _lookup_hosts_file(self, name: str) -> list[Address]:
        """What /etc/hosts says; read anew each time, as the system does."""
        try:
            lines = self._hosts.read_text("utf-8", "replace")[:_MAX_HOSTS_BYTES].splitlines()
        except OSError:
            return []
        found: list[Address] = []
        for line in lines:
            address, *names = line.partition("#")[0].split() or [""]
            if name in (listed.lower() for listed in names):
                try:
                    found.append(ipaddress.ip_address(address))
                except ValueError:
                    continue
        return list(dict.fromkeys(found))


def _getaddrinfo(name: str) -> list[str] | OSError:
    try:
        return [str(row[4][0]) for row in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
    except OSError as error:
        return error
    except UnicodeError:  # from Python's own codec, for a label that is too long
        return OSError(0, "the name can't be asked for")


async def _query(resolver: dns.asyncresolver.Resolver, name: str, kind: str) -> list[Address]:
    try:
        answer = await resolver.resolve(
            dns.name.from_text(name), kind, search=False, raise_on_no_answer=False, lifetime=LOOKUP_SECONDS
        )
    except dns.resolver.NXDOMAIN:
        return []
    except dns.exception.Timeout as error:
        raise DnsLookupError(f"no answer within {LOOKUP_SECONDS:.0f} s") from error
    except (dns.exception.DNSException, OSError) as error:
        raise DnsLookupError(f"{kind} could not be looked up: {error}") from error
    rows = cast(Sequence[object], answer.rrset or ())
    return [ipaddress.ip_address(str(row)) for row in rows]
