"""nginx alone, with the rendered configuration and a stub of the API: limits, errors, names and client addresses."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import signal
import socket
import ssl
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailkeep.core.security_headers import SECURITY_HEADERS
from mailkeep.mail.daemons import nginx, render
from mailkeep.run.runtime import edge_sites
from mailkeep.run.runtime.router import ENDPOINTS
from mailkeep.settings import Settings
from mailkeep.web.endpoint import PREFIX
from tests.stack.edge import Connection, Edge, Reply, ask, running
from tests.stack.harness import ADDRESS, HOSTNAME, eventually, require_full_profile, trusting
from tests.support.scratch import new_directory

LOGIN = f"{PREFIX}/auth/login"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    require_full_profile()
    path = new_directory("mailkeep-edge-", 0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def edge(folder: Path) -> Iterator[Edge]:
    """With few logins per second, and little patience."""
    settings = {
        "HTTP__HEADER_TIMEOUT_SECONDS": "1",
        "HTTP__BODY_TIMEOUT_SECONDS": "1",
        "LIMITS__REQUESTS_PER_SECOND": "50",
    }
    served = str(folder / "one" / "tls" / "served.pem")
    sites = [(("mta-sts.a.test", "autoconfig.a.test", "autodiscover.a.test"), served, served)]
    with running(folder / "one", sites, **settings) as found:
        yield found


@pytest.fixture(scope="module")
def balanced(folder: Path) -> Iterator[Edge]:
    """Behind a load balancer at 127.0.0.8."""
    with running(folder / "balanced", EDGE__PROXY_NETWORKS='["127.0.0.8/32"]') as found:
        yield found


def send_raw(port: int, data: bytes, name: str = HOSTNAME) -> bytes:
    """What nginx answers to these bytes until it closes."""
    connection = socket.create_connection((ADDRESS, port), 30)
    with trusting().wrap_socket(connection, server_hostname=name) as tls:
        tls.sendall(data)
        return b"".join(iter(lambda: tls.recv(1 << 16), b""))


def test_errors_of_nginx_have_the_envelope(edge: Edge) -> None:
    errors = {
        "no such host": edge.ask("GET", "/", Host="other.test"),
        "large head": edge.ask("GET", "/", X="a" * 20_000),
        "long line": edge.ask("GET", f"/{'a' * 20_000}"),
        "large body": edge.ask("POST", "/", Content_Length=str(1 << 40)),
        "method": edge.ask("TRACE", "/"),
        "away": edge.ask("GET", "/die"),
        "no TLS": ask(http.client.HTTPConnection(ADDRESS, edge.https, timeout=30), "GET", "/"),
        "hosted": edge.ask("GET", "/api/v1/domains", name="mta-sts.a.test"),
    }
    found = {what: (reply.status, reply.error["code"]) for what, reply in errors.items()}
    assert found == {
        "no such host": (400, "BAD_REQUEST"),
        "large head": (431, "HEAD_TOO_LARGE"),
        "long line": (431, "HEAD_TOO_LARGE"),
        "large body": (413, "PAYLOAD_TOO_LARGE"),
        "method": (405, "METHOD_NOT_ALLOWED"),
        "away": (503, "UNAVAILABLE"),
        "no TLS": (400, "BAD_REQUEST"),
        "hosted": (404, "NOT_FOUND"),
    }
    assert errors["away"].error["details"] == {"reason": "api_away"}
    assert errors["away"].get("retry-after") == ["2"]
    for what, reply in errors.items():
        for name, value in SECURITY_HEADERS:
            assert reply.get(name.decode()) == [value.decode()], (what, name)
        assert len(reply.get("strict-transport-security")) == (0 if what == "no TLS" else 1), what
    assert b'"code":"BAD_REQUEST"' in send_raw(edge.https, b"GARBAGE\r\n\r\n")
    reply, protocol = edge.upload("/", Path(__file__), "-H", f"Content-Length: {1 << 40}")
    assert (protocol, reply.status, reply.error["code"]) == ("HTTP/2", 413, "PAYLOAD_TOO_LARGE")
    assert nginx.ERRORS.keys() >= {400, 413, 414, 429, 494, 495, 496, 497, 502, 503, 504}


def test_no_token_and_no_request_over_a_limit_is_in_the_log(edge: Edge, folder: Path) -> None:
    """T52: also not if the API is away."""
    templates = [each.path if not each.prefixed else PREFIX + each.path for each in ENDPOINTS]
    paths = {each for each in templates if "{token}" in each or "/oidc/callback/" in each}
    paths.remove("/.well-known/acme-challenge/{token}")  # which is no secret
    assert len(paths) == 5
    for path in paths:
        assert edge.ask("GET", re.sub(r"\{\w+\}", "secret", path) + "?code=secret/die").status == 503, path
    assert edge.ask("GET", "/setup/secret/die", name="autoconfig.a.test").status == 503
    connection, statuses = Connection(edge.https, source="127.0.0.13"), set[int]()
    while 429 not in statuses:
        connection.request("POST", LOGIN, b"{}", {"Referer": "https://secret.test"})
        response = connection.getresponse()
        response.read()
        statuses.add(response.status)
    connection.close()
    edge.ask("GET", "/logged/die")
    log = (folder / "one" / "nginx.log").read_text()
    assert "/logged/die" in log
    assert "secret" not in log


def test_unknown_names_are_rejected_at_the_handshake(edge: Edge) -> None:
    for name in ("other.test", None):
        with (
            pytest.raises(ssl.SSLError, match=r"(?i)unrecognized.name"),
            socket.create_connection((ADDRESS, edge.https), 30) as connection,
        ):
            trusting().wrap_socket(connection, server_hostname=name)


def test_the_api_gets_the_true_client_and_host(edge: Edge) -> None:
    edge.received.clear()
    forged = {"X_Forwarded_For": "198.51.100.1", "X_Forwarded_Proto": "http", "X_Mailkeep_Listener": "forged"}
    assert ask(Connection(edge.https, source="127.0.0.9"), "GET", "/a%2Fb?c=d", **forged).status == 200
    (request,) = edge.received
    assert request.line == "GET /a%2Fb?c=d HTTP/1.1"
    assert (request.fields["x-forwarded-for"], request.fields["x-forwarded-proto"]) == ("127.0.0.9", "https")
    assert request.fields["host"] == f"{HOSTNAME}:{edge.https}"
    assert len(request.fields["x-mailkeep-listener"]) == 32


def test_hosted_names_and_port_80_forward_what_the_api_answers(edge: Edge) -> None:
    edge.received.clear()
    paths = (
        "/.well-known/mta-sts.txt", "/.well-known/autoconfig/mail/config-v1.1.xml", "/mail/config-v1.1.xml",
        "/AutoDiscover/Autodiscover.xml", "/autodiscover/autodiscover.json/v1.0/a@a.test", "/setup/x", "/setup.css",
    )  # fmt: skip
    assert [edge.ask("GET", path, name="autodiscover.a.test").status for path in paths] == [200] * len(paths)
    assert {request.fields["host"] for request in edge.received} == {f"autodiscover.a.test:{edge.https}"}
    assert edge.ask("GET", "/setup", name="autodiscover.a.test").status == 404

    def ask_80(path: str) -> Reply:
        return ask(http.client.HTTPConnection(ADDRESS, edge.http, timeout=30), "GET", path, Host="any.test")

    edge.received.clear()
    assert ask_80("/.well-known/acme-challenge/token").body == b"ok"
    assert [(each.fields["host"], each.fields["x-forwarded-proto"]) for each in edge.received] == [("any.test", "http")]
    assert "x-mailkeep-listener" not in edge.received[0].fields
    moved = ask_80("/a?b")
    assert (moved.status, moved.get("location")) == (301, [f"https://any.test:{edge.https}/a?b"])
    assert moved.get("strict-transport-security") == []


def test_of_14_logins_in_a_second_the_first_pass(edge: Edge) -> None:
    head = f"POST {LOGIN} HTTP/1.1\r\nHost: {HOSTNAME}\r\nContent-Length: 2\r\n"
    answers = send_raw(edge.https, f"{head}\r\n{{}}".encode() * 13 + f"{head}Connection: close\r\n\r\n{{}}".encode())
    counts = Counter(re.findall(rb"HTTP/1.1 (\d+)", answers))
    assert counts[b"200"] + counts[b"429"] == 14
    assert 5 <= counts[b"200"] <= 10, counts
    assert answers.count(b'"code":"RATE_LIMIT_EXCEEDED"') == answers.count(b"\nRetry-After: 1\r") == counts[b"429"]
    assert ask(Connection(edge.https, source="127.0.0.10"), "POST", LOGIN, b"{}").status == 200


def test_nginx_knows_each_login_and_the_largest_body() -> None:
    conf = (render.TEMPLATES / "nginx" / "nginx.conf").read_text().replace("@@api@@", PREFIX)
    logins = [line.strip().split('"')[1][1:] for line in conf.splitlines() if line.strip().endswith(" $client;")]
    known = [re.compile(pattern) for pattern in logins if pattern.startswith("^")]
    for endpoint in (each for each in ENDPOINTS if each.prefixed):
        path = re.sub(r"\{\w+\}", "x", endpoint.path)
        is_known = any(pattern.match(f"{endpoint.method} {PREFIX}{path}") for pattern in known)
        assert is_known == endpoint.login, (endpoint.method, endpoint.path)
    settings = Settings()
    largest = max(each.body_limit(settings) for each in ENDPOINTS if each.body_limit)
    assert nginx.find_largest_body(settings) >= largest


def test_a_flood_of_requests_is_limited_by_address_and_by_key(edge: Edge) -> None:
    def flood(source: str, **fields: str) -> Counter[int]:
        counts: Counter[int] = Counter()
        connection = Connection(edge.https, source=source)
        for _ in range(400):
            connection.request("GET", "/", headers=fields)
            response = connection.getresponse()
            response.read()
            counts[response.status] += 1
        connection.close()
        return counts

    first = flood("127.0.0.11", Authorization="Bearer one")
    assert first[429] > 0
    assert first[200] >= 100
    assert ask(Connection(edge.https, source="127.0.0.12"), "GET", "/").status == 200


def test_memory_stays_flat_during_a_large_send(edge: Edge) -> None:
    edge.received.clear()
    with edge.growth() as most:
        assert edge.ask("POST", f"{PREFIX}/send", bytes(60 << 20)).status == 200
    assert edge.received[-1].size == 60 << 20
    assert most[0] < 8 << 20
    assert edge.list_temporary_files() == []


def test_a_slow_head_and_a_slow_body_are_ended(edge: Edge) -> None:
    with connect(edge) as pausing, connect(edge) as tls:
        began, is_open = time.monotonic(), True
        pausing.sendall(f"POST /die HTTP/1.1\r\nHost: {HOSTNAME}\r\nContent-Length: 99\r\n\r\nx".encode())
        tls.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        tls.settimeout(0.2)
        while is_open and time.monotonic() - began < 10:
            try:
                tls.sendall(b"X: y\r\n")
                is_open = tls.recv(100) != b""
            except TimeoutError:
                continue
            except OSError:
                is_open = False
        assert time.monotonic() - began < 5
        with contextlib.suppress(OSError):
            assert pausing.recv(100) == b""
        # Later than the API, whose limit is a second: it answers, and nginx does not.
        assert 2 < time.monotonic() - began < 15


def connect(edge: Edge) -> ssl.SSLSocket:
    connection = socket.create_connection((ADDRESS, edge.https), 30)
    return trusting().wrap_socket(connection, server_hostname=HOSTNAME)


def test_the_proxy_protocol_counts_from_listed_networks_only(balanced: Edge) -> None:
    """T51: nobody else chooses the address that is audited, limited and blocked."""
    header = b"PROXY TCP4 203.0.113.7 127.0.0.1 4711 443\r\n"
    for source, seen in (("127.0.0.8", "203.0.113.7"), ("127.0.0.9", "127.0.0.9")):
        balanced.received.clear()
        assert ask(Connection(balanced.https, source=source, first=header), "GET", "/").status == 200
        assert balanced.received[0].fields["x-forwarded-for"] == seen
    for source in ("127.0.0.8", "127.0.0.9"):
        with pytest.raises(OSError):
            ask(Connection(balanced.https, source=source), "GET", "/")
    logins = [Connection(balanced.https, source="127.0.0.9", first=b"PROXY TCP4 203.0.113.%d 127.0.0.1 1 443\r\n" % n)
              for n in range(14)]  # fmt: skip
    assert Counter(ask(each, "POST", LOGIN, b"{}").status for each in logins)[429] >= 4


def test_500_domains_are_served_within_seconds(folder: Path) -> None:
    with running(folder / "many") as edge:
        tls = edge.paths.tls
        for number in range(500):  # each with a certificate of its own
            own = tls / f"d{number}.test"
            own.mkdir()
            for name in ("fullchain.pem", "key.pem"):
                os.link(tls / "served.pem", own / name)
        settings = Settings()
        sites = edge_sites.list_sites(settings, [f"d{number}.test" for number in range(500)], tls)
        assert {site.kind for site in sites} == {"server", "hosted"}
        edge.paths.nginx_sites.write_text(edge_sites.render(sites))
        os.kill(edge.pid, signal.SIGHUP)

        def is_served() -> bool:
            try:
                return edge.ask("GET", "/setup.css", name="mta-sts.d499.test").status == 200
            except ssl.SSLError:
                return False

        eventually(is_served, 20, "the new names")
        with pytest.raises(ssl.SSLError):
            edge.ask("GET", "/setup.css", name="mta-sts.d500.test")
