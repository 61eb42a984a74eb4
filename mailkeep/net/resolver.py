"""The addresses of a host, from `dns.servers` if set, else from the system.

/etc/hosts comes before `dns.servers`. A look-up takes at most 3 seconds. There is no cache and no search list.
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
    """No address of a host was found; the message says why."""


class Resolver:
    """Looks up hosts. `servers` are pairs of address and port; if there are none, the system resolves."""

    def __init__(self, servers: Sequence[tuple[str, int]] = (), hosts: Path = _HOSTS) -> None:
        self._servers = tuple(servers)
        self._hosts = hosts
        self._threads = asyncio.Semaphore(_SYSTEM_LOOKUPS)

    async def resolve(self, name: str) -> list[Address]:
        """The IPv4 and IPv6 addresses of a name, at most 16. Raises DnsLookupError if there is none, or no answer."""
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                addresses = await (self._by_servers(name) if self._servers else self._by_system(name))
        except TimeoutError as error:
            raise DnsLookupError(f"no answer within {LOOKUP_SECONDS:.0f} s") from error
        if not addresses:
            raise DnsLookupError("the name has no address")
        return addresses[:MAX_ADDRESSES]

    async def reverse(self, address: Address) -> list[str]:
        """The names in the PTR records of an address, lower case without the trailing dot; empty if there are none.

        Raises DnsLookupError if no server responds in time. Without `servers`, the system's name servers are used.
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
        """Look up a name in a thread of its own (at most 32), because getaddrinfo blocks, even after our timeout.

        These threads are not taken from the executor's, and the process does not wait for them when it ends.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[list[str]] = loop.create_future()

        def set_answer(result: list[str] | OSError) -> None:
            self._threads.release()
            if not answer.done():
                answer.set_exception(result) if isinstance(result, OSError) else answer.set_result(result)

        def look_up() -> None:
            result = _getaddrinfo(name)
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(set_answer, result)

        await self._threads.acquire()
        threading.Thread(target=look_up, name="lookup", daemon=True).start()
        try:
            rows = await answer
        except OSError as error:
            raise DnsLookupError(error.strerror or "the name is unknown") from error
        return list(dict.fromkeys(ipaddress.ip_address(row) for row in rows))

    async def _by_servers(self, name: str) -> list[Address]:
        addresses = self._lookup_hosts_file(name)
        if addresses:
            return addresses
        resolver = self._dns_resolver()
        answers = await asyncio.gather(
            *(_query(resolver, name, kind) for kind in ("A", "AAAA")), return_exceptions=True
        )
        addresses = [address for answer in answers if not isinstance(answer, BaseException) for address in answer]
        for answer in answers:
            if isinstance(answer, BaseException) and not (addresses and isinstance(answer, DnsLookupError)):
                raise answer
        return addresses

    def _lookup_hosts_file(self, name: str) -> list[Address]:
        """The addresses in /etc/hosts, which is read each time, as the system does."""
        try:
            lines = self._hosts.read_text("utf-8", "replace")[:_MAX_HOSTS_BYTES].splitlines()
        except OSError:
            return []
        addresses: list[Address] = []
        for line in lines:
            address, *names = line.partition("#")[0].split() or [""]
            if name in (alias.lower() for alias in names):
                try:
                    addresses.append(ipaddress.ip_address(address))
                except ValueError:
                    continue
        return list(dict.fromkeys(addresses))


def _getaddrinfo(name: str) -> list[str] | OSError:
    try:
        return [str(row[4][0]) for row in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
    except OSError as error:
        return error
    except UnicodeError:  # from Python's own codec, for a label that is too long
        return OSError(0, "the name is too long")


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
