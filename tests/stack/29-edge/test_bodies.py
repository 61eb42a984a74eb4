"""Large bodies, through nginx to the API of a full instance."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import process
from mailkeep.web.endpoint import PREFIX
from tests.stack.edge import Connection, Edge, Reply, ask
from tests.stack.harness import Stack

LIMIT = 75 << 20
"""Of a send: 1.5 times the default of `limits.message_size_mb`, in bytes."""
FLAT = 8 << 20


@pytest.fixture
def edge(stack: Stack) -> Edge:
    run = run_folder(stack.data_dir)
    pid = process.find_service_pid(run, "nginx")
    assert pid
    return Edge(pid, InstancePaths(stack.data_dir, run), stack.ports["https"], stack.ports["http"])


def upload(edge: Edge, stack: Stack, file: Path, *options: str) -> Reply:
    """A send over HTTP/2."""
    reply, protocol = edge.upload(f"{PREFIX}/send", file, "-H", f"Cookie: {stack.cookie}", *options)
    assert protocol == "HTTP/2"
    return reply


def test_a_send_near_the_limit_is_streamed(edge: Edge, stack: Stack, tmp_path: Path) -> None:
    stack.get_domain("large.test")
    attached = base64.b64encode(os.urandom(33 << 20)).decode()
    body = {
        "from": {"email": "shop@large.test"},
        "to": [{"email": "large@remote.test"}],
        "subject": "Large",
        "text_body": "Hello.",
        "attachments": [{"filename": "a.bin", "content_type": "application/octet-stream", "content": attached}],
    }
    file = tmp_path / "body.json"
    file.write_bytes(json.dumps(body).encode().ljust(LIMIT))
    with edge.growth() as most:
        reply = upload(edge, stack, file)
    assert reply.status == 200, reply.body
    assert most[0] < FLAT
    assert edge.list_temporary_files() == []
    (mail,) = stack.arrived("large@remote.test")
    assert len(mail) > len(attached)


def test_a_body_over_the_limit_is_refused(edge: Edge, stack: Stack, tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    file.write_bytes(b"{".ljust(LIMIT + 1))
    chunked = ("-H", "Content-Length:", "-H", "Transfer-Encoding: chunked")  # the length is not known before
    replies = [upload(edge, stack, file), upload(edge, stack, file, *chunked)]
    fields = {"Cookie": stack.cookie, "Content_Type": "application/json"}
    chunks = (b" " * (1 << 20) for _ in range((LIMIT >> 20) + 1))
    with edge.growth() as most:
        replies.append(ask(Connection(edge.https), "POST", f"{PREFIX}/send", chunks, **fields))
    assert {(reply.status, reply.error["code"]) for reply in replies} == {(413, "PAYLOAD_TOO_LARGE")}
    assert most[0] < FLAT
    assert edge.list_temporary_files() == []
