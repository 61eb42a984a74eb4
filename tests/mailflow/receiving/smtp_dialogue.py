"""An SMTP client that sends exactly the given commands."""

from __future__ import annotations

import asyncio
import smtplib
from collections.abc import Sequence

from tests.plugins.post import Post


async def dialogue(post: Post, *lines: str | bytes, hello: str = "EHLO elsewhere.test") -> list[tuple[int, str]]:
    """The replies to these commands (text) and contents (bytes, to which DATA and the final dot are added)."""

    def talk() -> list[tuple[int, str]]:
        with smtplib.SMTP("127.0.0.1", post.port, timeout=60) as client:
            client.docmd(hello)
            replies = (client.docmd(line) if isinstance(line, str) else _content(client, line) for line in lines)
            return [(code, text.decode()) for code, text in replies]

    answers = await asyncio.to_thread(talk)
    await post.inbound.wait_for_records()
    return answers


def _content(client: smtplib.SMTP, content: bytes) -> tuple[int, bytes]:
    code, text = client.docmd("DATA")
    if code != 354:
        return code, text
    client.send(content.replace(b"\r\n.", b"\r\n..") + b".\r\n")
    return client.getreply()


def codes(answers: Sequence[tuple[int, str]]) -> list[int]:
    return [code for code, _ in answers]
