"""An HTTPS server for MTA-STS policies in tests, on port 443 of a loopback address: only root can bind it.

Its certificates are from an authority of its own (`ca_file`), for the names in `names`.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

import trustme


class PolicyHost:
    """`answers` by host: status, media type and body; 404 for others. `requests` are the hosts of the requests."""

    def __init__(self, folder: Path, address: str, names: Sequence[str], ca: trustme.CA | None = None) -> None:
        self.address = address
        self.answers: dict[str, tuple[int, str, str]] = {}
        self.requests: list[str] = []
        self.ca = ca or trustme.CA()
        self.ca_file = folder / "policy-ca.pem"
        self.ca.cert_pem.write_to_path(self.ca_file)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*names).configure_cert(self._context)

    def serve(self, domain: str, text: str, status: int = 200, media_type: str = "text/plain") -> None:
        """Answer this text as the policy of a domain."""
        self.answers[f"mta-sts.{domain}"] = (status, media_type, text)

    def __enter__(self) -> Self:
        host = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.headers.get("Host", "")
                host.requests.append(name)
                status, media_type, text = host.answers.get(name, (404, "text/plain", "unknown"))
                self.send_response(status)
                self.send_header("Location", "https://elsewhere.test/policy")
                self.send_header("Content-Type", media_type)
                self.send_header("Content-Length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                pass

        self._server = ThreadingHTTPServer((self.address, 443), Handler)
        self._server.socket = self._context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
