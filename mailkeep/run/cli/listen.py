"""The command `mailkeep listen`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mailkeep.run.cli.output import DataDir, examples, report_errors

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from contextlib import AsyncExitStack

    from mailkeep.run.cli.event_forwarder import ForwardResult, Source, SourceCallbacks

AsLines = Annotated[bool, typer.Option("--json", help="Print a JSON object on each line.")]


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command(
        "listen",
        epilog=examples(
            "mailkeep listen --forward http://localhost:3000/hook",
            "mailkeep listen --forward http://localhost:3000/hook --events mail.delivered,mail.bounced",
            "mailkeep listen --forward http://localhost:3000/ --url https://mail.example.com --key-file key.txt",
        ),
    )(listen)


def listen(
    forward: Annotated[str, typer.Option("--forward", metavar="URL", help="Where to post each event, http or https.")],
    events: Annotated[str, typer.Option("--events", metavar="KINDS", help="Event kinds, separated by commas.")] = "*",
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only of this domain.")] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="Another server, with --key-file.")] = None,
    key_file: Annotated[
        Path | None, typer.Option("--key-file", metavar="FILE", help="Holds an API key of that server.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsLines = False,
) -> None:
    """Forward events to a program under development.

    Events are posted and signed as for a webhook. The secret is printed first and stays the same for this data
    directory or this key. Each new event is posted once, in order, whatever the answer is; a line shows the result.
    The command reconnects when the server comes back. Stop it with Ctrl-C.
    """
    import asyncio

    if (url is None) != (key_file is None):
        raise typer.BadParameter("--url and --key-file go together.")
    server = _server_url(url) if url else None
    options = _ListenOptions(_forward_url(forward), _kinds(events), domain, server, key_file, data_dir, as_json)
    with report_errors(as_json):
        asyncio.run(_listen(options))


@dataclass(frozen=True, slots=True)
class _ListenOptions:
    """The checked options: URLs in canonical form, `server` without a path."""

    forward: str
    kinds: Sequence[str]
    domain: str | None
    server: str | None
    key_file: Path | None
    data_dir: Path | None
    as_json: bool


def _forward_url(text: str) -> str:
    from mailkeep.net.url import MalformedUrl, parse_url

    try:
        return parse_url(text, allow_http=True).url
    except MalformedUrl as error:
        raise typer.BadParameter(f"The URL {error}.") from None


def _server_url(text: str) -> str:
    """The checked URL of a server that the API key is sent to."""
    from mailkeep.net.url import MalformedUrl, parse_url

    try:
        target = parse_url(text, allow_http=True)
    except MalformedUrl as error:
        raise typer.BadParameter(f"The URL {error}.") from None
    if target.path not in ("", "/"):
        raise typer.BadParameter("--url must have no path.")
    address = target.host.address
    if target.scheme == "http" and target.host.text != "localhost" and not (address and address.is_loopback):
        raise typer.BadParameter("--url must be https, to protect the API key.")
    return target.url.removesuffix("/")


def _kinds(text: str) -> Sequence[str]:
    from typing import get_args

    from mailkeep.features.record.events.model import Kind

    known: tuple[str, ...] = get_args(Kind)
    kinds = [each.strip() for each in text.split(",") if each.strip()]
    if not kinds or not {*kinds} <= {*known, "*"}:
        raise typer.BadParameter(f"--events takes {', '.join(known)} or *, separated by commas.")
    return kinds


async def _listen(options: _ListenOptions) -> None:
    from contextlib import AsyncExitStack

    from mailkeep.run.cli.event_forwarder import forward
    from mailkeep.run.runtime import logs

    logs.configure("error")
    async with AsyncExitStack() as stack:
        source, secret = await _source(options, stack)
        await _print_until_interrupted(options, forward(source, options.forward, secret, options.kinds))


async def _source(options: _ListenOptions, stack: AsyncExitStack) -> tuple[Source, str]:
    """The source of events, and the secret that signs them."""
    import hmac

    from mailkeep.core.errors import Failure
    from mailkeep.run.cli import event_forwarder

    if options.server and options.key_file:
        key = options.key_file.read_text("ascii", "replace").strip()
        if not key.startswith("svc_") or not key.isascii() or not key.isprintable():
            raise Failure(f"{options.key_file} holds no API key.", permanent=True)
        server = event_forwarder.RemoteServer(options.server, key)
        domain_id = await event_forwarder.find_domain(server, options.domain) if options.domain else None
        secret = _secret(hmac.digest(key.encode(), b"mailkeep listen", "sha256"))
        return event_forwarder.remote(server, domain_id, _callbacks(options, secret, server.url)), secret
    return await _local(options, stack)


async def _local(options: _ListenOptions, stack: AsyncExitStack) -> tuple[Source, str]:
    import asyncio

    from mailkeep.core.errors import DomainNotFound, Failure
    from mailkeep.core.secret import decode_base64url
    from mailkeep.features.directory.domains import rules, service as domains
    from mailkeep.features.record.events import jobs
    from mailkeep.run.cli import event_forwarder
    from mailkeep.run.cli.accounts import cli_principal
    from mailkeep.run.cli.output import open_app, require_data_dir
    from mailkeep.run.runtime import state
    from mailkeep.run.runtime.context import resolve_data_dir

    place = resolve_data_dir(options.data_dir)
    require_data_dir(place)
    running = state.read(place)
    if running is None:
        raise Failure(f"Mailkeep does not run on {place}: start it with `mailkeep up`.")
    app = await stack.enter_async_context(open_app(options.data_dir))
    domain_id = None
    if options.domain:
        async with app.db.autocommit() as conn:
            domain = await domains.find_by_name(conn, rules.parse_name(options.domain))
        if domain is None:
            raise DomainNotFound(f"There is no domain {options.domain}.")
        domain_id = domain.id
    watching = asyncio.create_task(jobs.watch(app))
    stack.callback(watching.cancel)
    signature = decode_base64url(app.vault.sign("listen", b""))
    assert signature is not None
    secret = _secret(signature)
    return event_forwarder.local(app, cli_principal(), domain_id, _callbacks(options, secret, running.http)), secret


def _secret(key: bytes) -> str:
    from base64 import b64encode

    return "whsec_" + b64encode(key).decode()


async def _print_until_interrupted(options: _ListenOptions, results: AsyncIterator[ForwardResult]) -> None:
    """Print each result until Ctrl-C or SIGTERM, then the totals."""
    import asyncio
    import contextlib
    import signal

    forwarded = failed = 0

    async def print_results() -> None:
        nonlocal forwarded, failed
        async for result in results:
            forwarded += 1
            failed += not (result.status and 200 <= result.status < 300)
            _print_result(options, result)

    printing = asyncio.create_task(print_results())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, printing.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await printing
    _print_end(options, forwarded, failed)


def _callbacks(options: _ListenOptions, secret: str, server: str) -> SourceCallbacks:
    from mailkeep.run.cli.event_forwarder import SourceCallbacks

    return SourceCallbacks(lambda: _print_start(options, secret, server), _print_problem)


def _print_start(options: _ListenOptions, secret: str, server: str) -> None:
    from mailkeep.run.cli.output import to_json

    if options.as_json:
        start = {"from": server, "forward": options.forward, "events": options.kinds, "secret": secret}
        print(to_json({"listening": start}), flush=True)
        return
    print(f"Events of {server} go to {options.forward}, signed with the secret {secret}", flush=True)
    print("Stop with Ctrl-C.", flush=True)


def _print_result(options: _ListenOptions, result: ForwardResult) -> None:
    from mailkeep.core.clock import iso, utc_now
    from mailkeep.run.cli.output import to_json

    content = result.content
    if options.as_json:
        data = {
            "event_id": content.event_id,
            "event": content.kind,
            "message_id": content.message_id,
            "status": result.status,
            "duration_ms": result.duration_ms,
            "error": result.error,
        }
        print(to_json(data), flush=True)
        return
    outcome = result.error or result.status
    at = iso(utc_now())[11:19]
    print(f"{at}  {content.kind:18} {content.event_id}  {outcome}  {result.duration_ms} ms", flush=True)


def _print_end(options: _ListenOptions, forwarded: int, failed: int) -> None:
    from mailkeep.run.cli.output import to_json

    if options.as_json:
        print(to_json({"ended": {"forwarded": forwarded, "failed": failed}}), flush=True)
    else:
        print(f"Forwarded {forwarded}; {failed} of them failed.", flush=True)


def _print_problem(line: str) -> None:
    import sys

    print(line, file=sys.stderr, flush=True)
