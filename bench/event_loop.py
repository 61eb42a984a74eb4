"""The longest CPU time that one callback on the event loop takes, route by route, under large and hostile bodies.

Every route gets bodies up to its limit: each field of its example in turn as a long string, a long list, a large or
deeply nested object; and whole bodies that are hard to read. The send routes get what is valid and as large as it may
be: 1,000 recipients at distinct non-ASCII domains, 200 header fields, texts and attachments of tens of megabytes,
batches of 100 such messages. Thresholds of abuse are raised, so that everything is written and submitted to a sink. The
application runs in this process, on asyncio's own loop, whose callbacks are timed by the CPU time of the loop's thread;
the client is another process. The worst body of each route is sent three times more where it took above 10 ms: the
figure is the median.

Promise: no callback above 50 ms. `python -m bench.event_loop [PATH] [EVERY]`: only the routes whose path contains PATH,
of their hostile bodies each EVERY-th; the largest valid ones are always sent.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import multiprocessing
import os
import sys
import tempfile
import time
from asyncio.events import Handle
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import Any

from bench.rig.data import SETTINGS, database
from bench.smtp_submit import Child
from mailkeep.app import App
from mailkeep.db.pool import DatabasePool
from mailkeep.db.postgres import Urls
from mailkeep.mail.smtp.connection import Relay
from mailkeep.mail.smtp.pool import SmtpPool
from mailkeep.run.runtime.connection_limits import HttpLimits
from mailkeep.run.runtime.http import HttpListener
from mailkeep.run.runtime.router import ACCESS_CONTROL, ENDPOINTS
from mailkeep.settings.tree import AbuseSettings, LimitsSettings, MtaSettings
from mailkeep.web.endpoint import PREFIX, Endpoint
from mailkeep.web.fields import variants
from mailkeep.web.pipeline import BODY_LIMIT, Pipeline
from mailkeep.web.router import Router
from tests.support.client import EXAMPLE, VAULT, Api, ManualClock, cookie_of, token_of

PROMISE = 0.050
AGAIN = 0.010
TIMES = 3
MIB = 1 << 20

Body = Callable[[], bytes]


@dataclass(frozen=True)
class Shot:
    """One request: `body` makes its body in the client's process."""

    endpoint: Endpoint
    target: str
    what: str
    body: Body | None = None
    headers: tuple[tuple[str, str], ...] = ()
    valid: bool = False


class Meter:
    """The longest callback on this thread's loop since `reset`, in seconds of CPU."""

    def __init__(self) -> None:
        self.longest, self.name = 0.0, ""

    def install(self) -> None:
        run = Handle._run

        def timed(handle: Handle) -> None:
            began = time.thread_time()
            run(handle)
            used = time.thread_time() - began
            if used > self.longest:
                self.longest, self.name = used, repr(handle)

        Handle._run = timed  # type: ignore[method-assign]

    def reset(self) -> None:
        self.longest, self.name = 0.0, ""


# What is sent. Values that stand for a field, by name; each has about `size` bytes as JSON.


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


def dumped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def with_field(base: Any, field: str, make: Callable[[int], Any], size: int) -> bytes:
    return dumped(base | {field: make(size)})


def raw(kind: str, size: int) -> bytes:
    """A whole body that is hard to read."""
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
            return dumped({f"f{n}": n for n in range(size // 14)})
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


def letter(**more: Any) -> dict[str, Any]:
    return {
        "from": {"email": f"shop@{EXAMPLE}"},
        "to": [{"email": "a@elsewhere.test"}],
        "subject": "Your order",
        "text_body": "It is on its way.",
    } | more


def attached(content: str) -> dict[str, str]:
    return {"filename": "film.bin", "content_type": "application/octet-stream", "content": content}


LETTERS: dict[str, Callable[[], dict[str, Any]]] = {
    "200,000 recipients": lambda: letter(to=recipients(200_000, "the same")),
    "320,000 recipients": lambda: letter(to=recipients(320_000, "")),
    "400,000 header fields": lambda: letter(headers=many_entries(400_000 * 16)),
    "1,000 recipients": lambda: letter(to=recipients(1000, "")),
    "1,000 recipients, distinct IDN": lambda: letter(to=recipients(1000, "distinct IDN")),
    "1,000 recipients, non-ASCII": lambda: letter(to=recipients(1000, "non-ASCII local parts")),
    "1,000 recipients, the same": lambda: letter(to=recipients(1000, "the same")),
    "1,000 recipients, long names": lambda: letter(bcc=recipients(999, "long names")),
    "1,000 recipients, long names shown": lambda: letter(to=recipients(1000, "long names")),
    "200 header fields": lambda: letter(headers={f"X-{n}": "ä" * 140 for n in range(200)}),
    "100 references": lambda: letter(references=["<" + "a" * 900 + ">"] * 100),
    "37 MB attached": lambda: letter(attachments=[attached(base64.b64encode(b"x" * 37_000_000).decode())]),
    "37 MB attached, lines": lambda: letter(attachments=[attached(base64.encodebytes(b"x" * 36_000_000).decode())]),
    "24 MB attached, escaped": lambda: letter(attachments=[attached("//8=" * 8_000_000)]),
    "1 MB attached, escaped": lambda: letter(attachments=[attached("//8/" * 240_000)]),
    "500 small attachments": lambda: letter(attachments=[attached("YWJj" * 3000)] * 500),
    "40 MB of text": lambda: letter(text_body="Hällo\r\n" * 5_000_000),
    "40 MB of HTML, foreign": lambda: letter(html_body="größe" * 5_700_000),
    "1 MB of text": lambda: letter(text_body="Hällo\r\n" * 120_000),
    "250 KB of text": lambda: letter(text_body="Hällo = \n" * 25_000),
    "60 KB of text": lambda: letter(text_body="Hällo = \n" * 6_000),
}
BATCHES: dict[str, Callable[[], list[Any]]] = {
    "100 × 1,000 recipients": lambda: [letter(to=recipients(1000, "", n * 1000)) for n in range(100)],
    "100 × 1,000 recipients, distinct IDN": lambda: [
        letter(to=recipients(1000, "distinct IDN", n * 1000)) for n in range(100)
    ],
    "100 × 1,000 recipients, the same": lambda: [letter(to=recipients(1000, "the same"))] * 100,
    "100 × 200 header fields": lambda: [letter(headers={f"X-{n}": "ä" * 140 for n in range(200)})] * 100,
    "100 × 300 KB of text": lambda: [letter(text_body="Hällo = \n" * 30_000)] * 100,
    "100 × 1 recipient": lambda: [letter()] * 100,
    "100 × 2 KB": lambda: [letter(text_body="Hällo = \n" * 200)] * 100,
    "100 × nothing right": lambda: [{f"f{n}": 1 for n in range(1000)}] * 100,
    "1,000,000 × nothing": lambda: [0] * 990_000,
    "100,000 × a message": lambda: [letter()] * 100_000,
}


def send_body(make: Callable[[], dict[str, Any]], escaped: bool = False) -> bytes:
    body = dumped(make())
    return body.replace(b"/", b"\\/") if escaped else body


def batch_body(make: Callable[[], list[Any]]) -> bytes:
    return dumped({"messages": make()})


# Which request each route gets.


def filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, meant in names.items():
            value = value.replace(f"{{{name}}}", meant)
        return value
    if isinstance(value, list):
        return [filled(each, names) for each in value]
    if isinstance(value, dict):
        return {name: filled(each, names) for name, each in value.items()}
    return value


def shots_at(endpoint: Endpoint, names: dict[str, str]) -> Iterator[Shot]:
    example = next(iter(endpoint.examples), None)
    path = endpoint.path
    for name, value in (example.path if example else {}).items():
        path = path.replace(f"{{{name}}}", filled(value, names))
    while "{" in path:
        path = path[: path.index("{")] + names["domain_id"] + path[path.index("}") + 1 :]
    target = (PREFIX if endpoint.prefixed else "") + path
    if endpoint.method == "GET":
        yield from reading(endpoint, target)
        return
    limit = BODY_LIMIT if endpoint.body_limit is None else 8 * MIB
    for kind in RAW:
        yield Shot(endpoint, target, kind, partial(raw, kind, limit))
    if endpoint.body is None:
        return
    base = filled(example.body, names) if example and example.body else {}
    fields = sorted({name for kind in variants(endpoint.body) for name in kind.__struct_encode_fields__})
    for field in fields:
        for make in VALUES:
            size = (limit - len(dumped(base)) - 100) * 9 // 10
            yield Shot(endpoint, target, f"{field}: {make.__name__}", partial(with_field, base, field, make, size))
    if endpoint.path == "/send":
        for what, make in LETTERS.items():
            yield Shot(endpoint, target, what, partial(send_body, make, "escaped" in what), valid=True)
    if endpoint.path == "/send/batch":
        for what, make in BATCHES.items():
            yield Shot(endpoint, target, what, partial(batch_body, make), valid=True)


def reading(endpoint: Endpoint, target: str) -> Iterator[Shot]:
    if "stream" in target:
        return
    yield Shot(endpoint, target, "plain")
    yield Shot(endpoint, f"{target}?" + "&".join(f"a{n}=%C3%A4" for n in range(2500)), "many parameters")
    fields = endpoint.query.__struct_encode_fields__ if endpoint.query else ()
    for field in (*fields, *(("cursor", "limit", "sort") if endpoint.listing else ())):
        yield Shot(endpoint, f"{target}?{field}={'%C3%A4' * 5000}", f"{field}: long text")
    yield Shot(endpoint, target, "many cookies", None, (("Cookie", ";".join(f"a{n}=b" for n in range(3500))),))
    yield Shot(endpoint, target, "long user agent", None, (("User-Agent", "ä" * 14_000),))


def post(port: int, shot: Shot, cookie: str) -> tuple[int, str]:
    """In the client's process: status and code."""
    connection = HTTPConnection("127.0.0.1", port, timeout=300)
    body = shot.body() if shot.body else None
    connection.putrequest(shot.endpoint.method, shot.target)
    headers = dict(shot.headers)
    headers["Cookie"] = f"{cookie}; {headers['Cookie']}" if "Cookie" in headers else cookie
    if body is not None:
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    for name, value in headers.items():
        connection.putheader(name, value.encode("latin-1"))
    connection.endheaders(body)
    try:
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    code = ""
    if answer.status >= 400 and content.startswith(b"{"):
        code = json.loads(content)["error"]["code"]
    return answer.status, code


_SHOTS: list[Shot] = []  # of the client's process, by their place


def _post(port: int, place: int, cookie: str) -> tuple[int, str]:
    return post(port, _SHOTS[place], cookie)


async def measure(
    urls: Urls, data_dir: Path, sink: Child, wanted: str, every: int
) -> dict[str, tuple[float, str, str]]:
    meter = Meter()
    high = AbuseSettings(sender_per_hour=10**9, domain_per_hour=10**9)
    settings = replace(SETTINGS, abuse=high, mta=MtaSettings(mode="smtp", host="127.0.0.1", port=sink.port, tls="none"),
                       limits=LimitsSettings(login_per_second=0, requests_per_second=0))  # fmt: skip
    db = DatabasePool(urls.app)
    await db.open()
    clock = ManualClock()
    app = App(settings, data_dir, clock, VAULT, db, mta=SmtpPool(Relay("127.0.0.1", sink.port, helo="localhost")))
    pipeline = Pipeline(app, Router(ENDPOINTS), ACCESS_CONTROL)
    names = await Api(app, pipeline, clock).placeholders()
    listener = HttpListener("127.0.0.1", 0, "The bench")
    await listener.start(pipeline, grace_seconds=5, limits=HttpLimits())
    # What ends the caller's session comes last.
    endpoints = sorted(ENDPOINTS, key=lambda each: ("logout" in each.path, "sessions" in each.path))
    hostile = 0
    for shot in (shot for each in endpoints if wanted in each.path for shot in shots_at(each, names)):
        hostile += not shot.valid
        if shot.valid or hostile % every == 0:
            _SHOTS.append(shot)
    cookie = cookie_of(token_of("sue"))
    found: dict[str, list[tuple[float, int, str, str]]] = {}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as clients:

        async def fire(place: int) -> tuple[float, str, str]:
            gc.collect()
            await asyncio.sleep(0)  # the collection is this callback's
            meter.reset()
            try:
                status, code = await asyncio.get_running_loop().run_in_executor(
                    clients, _post, listener.port, place, cookie
                )
            except OSError as lost:
                status, code = 0, str(lost)
            return meter.longest, f"{status} {code}".strip(), meter.name

        await fire(0)
        gc.collect()
        gc.freeze()  # as the product does once it has started
        meter.install()
        for place, shot in enumerate(_SHOTS):
            longest, answer, name = await fire(place)
            route = f"{shot.endpoint.method} {shot.endpoint.path}"
            found.setdefault(route, []).append((longest, place, answer, name))
            if longest > PROMISE / 2:
                print(f"    {longest * 1e3:6.1f} ms  {route}  {shot.what}  {answer}  {name[:300]}", flush=True)
        worst: dict[str, tuple[float, str, str]] = {}
        for route, runs in found.items():
            longest, place, answer, _ = max(runs)
            if longest > AGAIN:
                longest = median([(await fire(place))[0] for _ in range(TIMES)])
            worst[route] = (longest, _SHOTS[place].what, answer)
    await listener.stop()
    await pipeline.close()
    assert app.mta
    await app.mta.close()
    await app.outbound.close()
    await db.close()
    return worst


async def run(wanted: str, every: int) -> dict[str, tuple[float, str, str]]:
    sink = Child("sink")
    try:
        async with database() as urls:
            with tempfile.TemporaryDirectory(dir="/tmp") as folder:
                (Path(folder) / "tmp").mkdir()
                return await measure(urls, Path(folder), sink, wanted, every)
    finally:
        sink.end()


def main() -> None:
    began = os.getloadavg()
    wanted, every, *_ = (*sys.argv[1:], *("", "1")[len(sys.argv) - 1 :])
    worst = asyncio.run(run(wanted, int(every)))
    print(f"{'route':56} {'CPU':>8}  worst body, its answer")
    for route, (longest, what, answer) in sorted(worst.items(), key=lambda each: -each[1][0]):
        print(f"{route:56} {longest * 1e3:5.1f} ms  {what}, {answer}")
    top = max(longest for longest, _, _ in worst.values())
    print(f"{len(worst)} routes, {len(_SHOTS)} requests; load {began[0]:.1f} before, {os.getloadavg()[0]:.1f} after")
    result = {"bench": "event_loop", "promise": PROMISE * 1e3, "ms": round(top * 1e3, 1), "held": top <= PROMISE}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
