"""A DNS server for tests, in a thread: answers from what was published, or with a fault.

    with DnsServer() as server:
        server.publish("example.test", "MX", "10 mx.example.test.")
        server.fail("broken.test", "servfail")

It listens on UDP and TCP, at `127.0.0.1:port`.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
import time
from collections import Counter
from typing import Any, Literal, Self

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

Fault = Literal["servfail", "refused", "silent", "slow", "truncated", "lame", "garbage", "no_edns"]
"""`slow`: after `delay` seconds; `truncated`: only by TCP; `lame`: a referral; `no_edns`: EDNS is refused."""
_MOST_CNAMES = 9


class DnsServer:
    """The server; all published names are absolute, with or without the trailing dot."""

    def __init__(self, host: str = "127.0.0.1", delay: float = 1.2) -> None:
        self.host, self.delay = host, delay
        self.queries: Counter[tuple[str, str]] = Counter()
        """How often each name and type was asked."""
        self.authenticated = False  # sets AD, as a validating resolver does
        self._records: dict[tuple[str, str], list[list[str]]] = {}
        self._faults: dict[str, Fault] = {}
        self._lock = threading.Lock()

    def publish(self, name: str, record_type: str, *values: str) -> None:
        """Publish records, instead of those of this type. TXT values are texts of any length, without quotes."""
        self.alternate(name, record_type, list(values))

    def alternate(self, name: str, record_type: str, *answers: list[str]) -> None:
        """Answer with the first list, then the second …; the last one stays."""
        with self._lock:
            self._records[(_key(name), record_type)] = [list(values) for values in answers]

    def withdraw(self, name: str, record_type: str | None = None) -> None:
        """Remove the records of a name."""
        with self._lock:
            for key in [key for key in self._records if key[0] == _key(name) and record_type in (None, key[1])]:
                del self._records[key]

    def fail(self, name: str, fault: Fault | None) -> None:
        """Answer every question about a name, or all names below `*.` it, with a fault; None ends that."""
        with self._lock:
            if fault is None:
                self._faults.pop(_key(name), None)
            else:
                self._faults[_key(name)] = fault

    @property
    def address(self) -> str:
        """As in the setting `dns.servers`."""
        return f"{self.host}:{self.port}"

    def __enter__(self) -> Self:
        self._udp, self._tcp, self.port = _listen(self)
        for server in (self._udp, self._tcp):
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        for server in (self._udp, self._tcp):
            server.shutdown()
            server.server_close()

    def respond(self, wire: bytes, *, is_udp: bool) -> bytes | None:
        """The response to a query; None: no response."""
        try:
            query = dns.message.from_wire(wire)
        except dns.exception.DNSException:
            return None
        if query.flags & dns.flags.QR or len(query.question) != 1:
            return None
        question = query.question[0]
        name, record_type = _key(question.name.to_text()), dns.rdatatype.to_text(question.rdtype)
        with self._lock:
            self.queries[(name, record_type)] += 1
            fault = self._fault(name)
        response = dns.message.make_response(query, recursion_available=fault != "lame")
        if fault == "silent":
            return None
        if fault == "slow":
            time.sleep(self.delay)
        if fault == "garbage":
            return wire[:2] + b"\x81\x80\x00\x01"
        if fault in ("servfail", "refused") or (fault == "no_edns" and query.edns >= 0):
            response.use_edns(False)
            response.set_rcode(dns.rcode.from_text("FORMERR" if fault == "no_edns" else fault))
        elif fault == "lame":
            response.authority.append(dns.rrset.from_text(".", 60, "IN", "NS", "a.root-servers.net."))
        elif fault == "truncated" and is_udp:
            response.flags |= dns.flags.TC
        else:
            self._fill(response, question.name, record_type)
        return _to_wire(response, max(query.payload, 512) if is_udp else 65_535)

    def _fault(self, name: str) -> Fault | None:
        if fault := self._faults.get(name):
            return fault
        labels = name.split(".")
        parents = (".".join(labels[start:]) for start in range(1, len(labels) + 1))
        return next((self._faults[f"*.{parent}"] for parent in parents if f"*.{parent}" in self._faults), None)

    def _fill(self, response: dns.message.Message, name: dns.name.Name, record_type: str) -> None:
        if self.authenticated:
            response.flags |= dns.flags.AD
        key = ""
        for _ in range(_MOST_CNAMES):
            key = _key(name.to_text())
            if values := self._take(key, record_type):
                response.answer.append(_rrset(name, record_type, values))
                return
            if not (values := self._take(key, "CNAME")):
                break
            response.answer.append(_rrset(name, "CNAME", values))
            name = dns.name.from_text(values[0])
        with self._lock:
            names = [published for published, _ in self._records]
        if not any(published == key or published.endswith(f".{key}") for published in names):
            response.set_rcode(dns.rcode.NXDOMAIN)

    def _take(self, name: str, record_type: str) -> list[str]:
        with self._lock:
            answers = self._records.get((name, record_type))
            encloser = name
            while answers is None and encloser and not self._exists(encloser):  # a wildcard (RFC 4592)
                encloser = encloser.partition(".")[2]
                answers = self._records.get((f"*.{encloser}", record_type))
            if not answers:
                return []
            return answers.pop(0) if len(answers) > 1 else answers[0]

    def _exists(self, name: str) -> bool:
        return any(published == name or published.endswith(f".{name}") for published, _ in self._records)


def _key(name: str) -> str:
    return name.rstrip(".").lower()


def _rrset(name: dns.name.Name, record_type: str, values: list[str]) -> dns.rrset.RRset:
    if record_type == "TXT":
        values = [" ".join(_quote(part) for part in _split(value.encode())) for value in values]
    return dns.rrset.from_text_list(name, 60, "IN", record_type, values, origin=dns.name.root, relativize=False)


def _split(text: bytes) -> list[bytes]:
    return [text[at : at + 255] for at in range(0, len(text) or 1, 255)]


def _quote(part: bytes) -> str:
    return '"' + "".join(f"\\{byte:03}" for byte in part) + '"'


def _to_wire(response: dns.message.Message, most: int) -> bytes:
    try:
        return response.to_wire(max_size=most)
    except dns.exception.TooBig:
        response.answer.clear()
        response.flags |= dns.flags.TC
        return response.to_wire()


def _listen(server: DnsServer) -> tuple[socketserver.BaseServer, socketserver.BaseServer, int]:
    """A UDP and a TCP server on one free port."""

    class ByUdp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            wire, sender = self.request
            if response := server.respond(wire, is_udp=True):
                sender.sendto(response, self.client_address)

    class ByTcp(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with contextlib.suppress(OSError):
                self.request.settimeout(5)
                while (head := _read(self.request, 2)) and (wire := _read(self.request, int.from_bytes(head))):
                    if response := server.respond(wire, is_udp=False):
                        self.request.sendall(len(response).to_bytes(2) + response)

    for _ in range(50):
        udp = _Udp((server.host, 0), ByUdp)
        port: int = udp.server_address[1]
        try:
            return udp, _Tcp((server.host, port), ByTcp), port
        except OSError:
            udp.server_close()
    raise RuntimeError("no port is free for UDP and TCP")


class _Udp(socketserver.ThreadingUDPServer):
    daemon_threads, block_on_close = True, False


class _Tcp(socketserver.ThreadingTCPServer):
    daemon_threads, block_on_close = True, False


def _read(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part: Any = connection.recv(size - len(data))
        if not part:
            return b""
        data += part
    return data
