"""A stranger at the listener who says exactly what it is told to say."""

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
            answers = (client.docmd(line) if isinstance(line, str) else _content(client, line) for line in lines)
            return [(code, text.decode()) for code, text in answers]

    told = await asyncio.to_thread(talk)
    await post.inbound.settle()
    return told


def _content(client: smtplib.SMTP, content: bytes) -> tuple[int, bytes]:
    code, text = client.docmd("DATA")
    if code != 354:
        return code, text
    client.send(content.replace(b"\r\n.", b"\r\n..") + b".\r\n")
    return client.getreply()


def codes(answers: Sequence[tuple[int, str]]) -> list[int]:
    return [code for code, _ in answers]
