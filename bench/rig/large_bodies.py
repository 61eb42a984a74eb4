"""Large and hostile request bodies for `bench.event_loop`."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

from tests.support.client import EXAMPLE

# Values for a field, each with about `size` bytes as JSON.


def long_text(size: int) -> Any:
    return "x" * size


def foreign_text(size: int) -> Any:
    return "ä" * (size // 2)


def many_addresses(size: int) -> Any:
    return ",".join(f"a{n}@b{n}.bücher.test" for n in range(size // 26))


def long_address(size: int) -> Any:
    return "a@" + "bücher." * (size // 8) + "test"


def many_strings(size: int) -> Any:
    return [f"a{n}@bücher{n}.test" for n in range(size // 26)]


def many_objects(size: int) -> Any:
    return [{"email": f"a{n}@bücher.test", "name": "x"} for n in range(size // 48)]


def many_entries(size: int) -> Any:
    return {f"X-{n}": "x" for n in range(size // 16)}


def many_numbers(size: int) -> Any:
    return [1] * (size // 3)


def deep_value(size: int) -> Any:
    value: Any = 1
    for _ in range(55):
        value = [value]
    return [value] * (size // 120)


VALUES = (long_text, foreign_text, many_addresses, long_address, many_strings, many_objects, many_entries, many_numbers,
          deep_value)  # fmt: skip


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def with_field(base: Any, field: str, make: Callable[[int], Any], size: int) -> bytes:
    return encode(base | {field: make(size)})


def raw(kind: str, size: int) -> bytes:
    """A body that is expensive to parse."""
    match kind:
        case "brackets":
            return b"[" * size
        case "closed brackets":
            return b"[" * (size // 2) + b"]" * (size // 2)
        case "brackets in a string":
            return b'"' + b"[" * (size - 2) + b'"'
        case "quotes":
            return b'"' * size
        case "backslashes":
            return b'"' + b"\\" * (size - 1)
        case "escapes":
            return b'{"a":"' + b"\\u00e4" * (size // 6) + b'"}'
        case "surrogates":
            return b'{"a":"' + b"\\ud83d\\ude00" * (size // 12) + b'"}'
        case "unknown fields":
            return encode({f"f{n}": n for n in range(size // 14)})
        case "the same key":
            return b"{" + b'"a":1,' * (size // 6) + b'"a":1}'
        case "numbers":
            return b"[" + b"1e9," * (size // 4) + b"1]"
        case "spaces":
            return b" " * (size - 2) + b"{}"
        case _:
            return b"\xff" * size


RAW = ("brackets", "closed brackets", "brackets in a string", "quotes", "backslashes", "escapes", "surrogates",
       "unknown fields", "the same key", "numbers", "spaces", "no UTF-8")  # fmt: skip


def recipients(count: int, kind: str, first: int = 0) -> list[dict[str, str]]:
    match kind:
        case "distinct IDN":
            return [{"email": f"a{n}@bücher{n}.test"} for n in range(first, first + count)]
        case "the same":
            return [{"email": "a@bücher.test", "name": "Größe"}] * count
        case "non-ASCII local parts":
            return [{"email": f"größe{n}@bücher{n}.test"} for n in range(first, first + count)]
        case "long names":
            return [{"email": f"a{n}@elsewhere.test", "name": "ä" * 900} for n in range(first, first + count)]
        case _:
            return [{"email": f"a{n}@elsewhere.test"} for n in range(first, first + count)]


def message(**more: Any) -> dict[str, Any]:
    return {
        "from": {"email": f"shop@{EXAMPLE}"},
        "to": [{"email": "a@elsewhere.test"}],
        "subject": "Your order",
        "text_body": "It is on its way.",
    } | more


def attachment(content: str) -> dict[str, str]:
    return {"filename": "film.bin", "content_type": "application/octet-stream", "content": content}


MESSAGES: dict[str, Callable[[], dict[str, Any]]] = {
    "200,000 recipients": lambda: message(to=recipients(200_000, "the same")),
    "320,000 recipients": lambda: message(to=recipients(320_000, "")),
    "400,000 header fields": lambda: message(headers=many_entries(400_000 * 16)),
    "1,000 recipients": lambda: message(to=recipients(1000, "")),
    "1,000 recipients, distinct IDN": lambda: message(to=recipients(1000, "distinct IDN")),
    "1,000 recipients, non-ASCII": lambda: message(to=recipients(1000, "non-ASCII local parts")),
    "1,000 recipients, the same": lambda: message(to=recipients(1000, "the same")),
    "1,000 recipients, long names": lambda: message(bcc=recipients(999, "long names")),
    "1,000 recipients in To, long names": lambda: message(to=recipients(1000, "long names")),
    "200 header fields": lambda: message(headers={f"X-{n}": "ä" * 140 for n in range(200)}),
    "100 references": lambda: message(references=["<" + "a" * 900 + ">"] * 100),
    "37 MB attached": lambda: message(attachments=[attachment(base64.b64encode(b"x" * 37_000_000).decode())]),
    "37 MB attached, lines": lambda: message(attachments=[attachment(base64.encodebytes(b"x" * 36_000_000).decode())]),
    "24 MB attached, escaped": lambda: message(attachments=[attachment("//8=" * 8_000_000)]),
    "1 MB attached, escaped": lambda: message(attachments=[attachment("//8/" * 240_000)]),
    "500 small attachments": lambda: message(attachments=[attachment("YWJj" * 3000)] * 500),
    "40 MB of text": lambda: message(text_body="Hällo\r\n" * 5_000_000),
    "40 MB of HTML, foreign": lambda: message(html_body="größe" * 5_700_000),
    "1 MB of text": lambda: message(text_body="Hällo\r\n" * 120_000),
    "250 KB of text": lambda: message(text_body="Hällo = \n" * 25_000),
    "60 KB of text": lambda: message(text_body="Hällo = \n" * 6_000),
}
BATCHES: dict[str, Callable[[], list[Any]]] = {
    "100 × 1,000 recipients": lambda: [message(to=recipients(1000, "", n * 1000)) for n in range(100)],
    "100 × 1,000 recipients, distinct IDN": lambda: [
        message(to=recipients(1000, "distinct IDN", n * 1000)) for n in range(100)
    ],
    "100 × 1,000 recipients, the same": lambda: [message(to=recipients(1000, "the same"))] * 100,
    "100 × 200 header fields": lambda: [message(headers={f"X-{n}": "ä" * 140 for n in range(200)})] * 100,
    "100 × 300 KB of text": lambda: [message(text_body="Hällo = \n" * 30_000)] * 100,
    "100 × 1 recipient": lambda: [message()] * 100,
    "100 × 2 KB": lambda: [message(text_body="Hällo = \n" * 200)] * 100,
    "100 × only unknown fields": lambda: [{f"f{n}": 1 for n in range(1000)}] * 100,
    "990,000 × 0": lambda: [0] * 990_000,
    "100,000 × a message": lambda: [message()] * 100_000,
}


def send_body(make: Callable[[], dict[str, Any]], escaped: bool = False) -> bytes:
    body = encode(make())
    return body.replace(b"/", b"\\/") if escaped else body


def batch_body(make: Callable[[], list[Any]]) -> bytes:
    return encode({"messages": make()})
