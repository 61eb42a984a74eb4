"""Mutated messages: heads and bodies are read or refused, never anything else, and never for long.

Seconds in the suite; MAILKEEP_FUZZ_SECONDS makes it longer, MAILKEEP_FUZZ_SEED repeats a run.
"""

from __future__ import annotations

import json
import os
import random
import time

from mailkeep.mail.message.header_fields import parse_head
from mailkeep.mail.message.parse import UnparsableMessage, parse

SECONDS = float(os.environ.get("MAILKEEP_FUZZ_SECONDS") or 2)
SEED = int(os.environ.get("MAILKEEP_FUZZ_SEED") or random.SystemRandom().randrange(2**32))

WHOLE = (
    b"Received: from x (y [1.2.3.4]) by z;\r\n\tMon, 1 Jan 2026 00:00:00 +0000\r\n"
    b'From: =?utf-8?q?J=C3=BCrgen?= "A, B" (c) <j@e.test>\r\nTo: G: a@b.test, <b@b.test>;\r\nReply-To: r@b.test\r\n'
    b"Subject: =?utf-8?b?R3LDvA==?= =?iso-8859-1?Q?=E9?=\r\nMIME-Version: 1.0\r\nMessage-ID: <1@e.test>\r\n"
    b'Content-Type: multipart/mixed;\r\n boundary="b"\r\n\r\npreamble\r\n--b\r\n'
    b"Content-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=\r\n\r\n"
    b"--c\r\nContent-Type: text/html\r\n\r\n<p>\r\n--c--\r\n"
    b"--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: in\r\n\r\nx\r\n--b\r\nContent-Type: application/pdf;\r\n"
    b' name*0*=utf-8\'en\'%C3%A4; name*1=b\r\nContent-Disposition: attachment; filename="a\\"b.pdf"\r\n'
    b"Content-Transfer-Encoding: base64\r\n\r\nAAECAw==\r\n--b--\r\n"
)
PIECES = [
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"--b",
    b"--b--",
    b"--c\r\n",
    b"=?",
    b"?=",
    b'"',
    b"\\",
    b"(",
    b")",
    b"<",
    b">",
    b":",
    b";",
    b",",
    b"=",
    b"*",
    b"%",
    b"'",
    b"\r\n\r\n",
    b"charset=utf-7",
    b"charset=\xc3\x28",
    b"boundary=",
    b"\xed\xa0\x80",
    b"=?utf-7?q?+2AA-?=",
    b"Content-Transfer-Encoding: base64\r\n",
    b"Content-Type: multipart/mixed\r\n",
    b" " * 200,
    b"a" * 2000,
]


def mutated(dice: random.Random) -> bytes:
    content = bytearray(WHOLE)
    for _ in range(dice.randint(1, 12)):
        at = dice.randrange(len(content) + 1)
        match dice.randrange(4):
            case 0:
                content[at:at] = dice.choice(PIECES) * dice.choice((1, 1, 1, 30))
            case 1:
                del content[at : at + dice.randint(1, 60)]
            case 2:
                end = at + dice.randint(1, 200)
                content[at:at] = content[at:end] * dice.randint(1, 5)
            case _:
                content[at : at + 1] = bytes([dice.randrange(256)])
    return bytes(content)


def test_no_mutation_does_harm():
    dice = random.Random(SEED)
    until = time.monotonic() + SECONDS
    count = 0
    while time.monotonic() < until or count <= 100:  # at least 100 on a slow machine
        content = mutated(dice)
        started = time.process_time()
        head = parse_head(content)
        texts = [head.subject, head.message_id, *head.to_addresses, head.from_address, json.dumps(head.headers())]
        "".join(texts).encode()  # no surrogate
        assert not any(character in text for text in texts for character in "\0\r\n")
        try:
            parsed = parse(content)
        except UnparsableMessage:
            parsed = None
        if parsed:
            "".join([parsed.text or "", parsed.html or "", *(each.filename for each in parsed.attachments)]).encode()
        assert time.process_time() - started < 2, f"seed {SEED}, message {count}"
        count += 1
