"""Postfix's policy delegation: what ends a connection, and what the log says of it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from mailkeep.mail.postfix.policy import DUNNO, serve_policy


async def decide(attributes: Mapping[str, str]) -> str:
    return DUNNO


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"request\n\n", "a line is not name=value: b'request'"),
        (b"request=other\n\n", "the attribute `request` is not smtpd_access_policy"),
        (b"a=b\n" * 20_000, "the request is longer than 65536 bytes"),
        (b"a=" + b"b" * 70_000, "the request is longer than 65536 bytes"),
    ],
)
async def test_a_malformed_request_ends_the_connection(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes, reason: str
) -> None:
    server = await serve_policy(tmp_path / "policy", decide, mode=0o600, group=os.getgid())
    reader, writer = await asyncio.open_unix_connection(tmp_path / "policy")
    with caplog.at_level(logging.WARNING):
        writer.write(content)
        async with asyncio.timeout(60):
            with suppress(ConnectionResetError):  # the server closes before it has read everything
                assert await reader.read() == b""
    writer.close()
    server.close()
    [record] = caplog.records
    assert record.getMessage().startswith("policy connection closed: ")
    assert reason in record.getMessage()
