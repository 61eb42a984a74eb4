"""The header of the PROXY protocol, version 2: https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt."""

from __future__ import annotations

import ipaddress
import struct

_SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
_PROXY, _TCP4, _TCP6 = 0x21, 0x11, 0x21
_AUTHORITY, _SSL, _CLIENT_SSL = 0x02, 0x20, 0x01
_MAPPED = ipaddress.IPv6Network("64:ff9b::/96")
_LOOPBACK = {4: ipaddress.ip_address("127.0.0.1"), 6: ipaddress.ip_address("::1")}


def read_client(peer: str) -> str:
    """The client's address behind the source address of a connection in PHP's network."""
    address = ipaddress.IPv6Address(peer.partition("%")[0])
    if address in _MAPPED:
        return str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return str(address.ipv4_mapped or address)


def write_header(client: str, port: int, authority: str = "") -> bytes:
    """The header for a connection of this client address. With `authority`, a host name, the connection also counts as
    protected by TLS.
    """
    address = ipaddress.ip_address(client)
    content = address.packed + _LOOPBACK[address.version].packed + struct.pack("!HH", port, 0)
    if authority:
        # The fields of the connection's TLS: the client used it; its certificate was not verified.
        content += _tlv(_AUTHORITY, authority.encode("ascii")) + _tlv(_SSL, struct.pack("!BI", _CLIENT_SSL, 1))
    family = _TCP4 if address.version == 4 else _TCP6
    return _SIGNATURE + struct.pack("!BBH", _PROXY, family, len(content)) + content


def _tlv(kind: int, value: bytes) -> bytes:
    return struct.pack("!BH", kind, len(value)) + value
