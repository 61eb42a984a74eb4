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
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only events of this domain.")] = None,
    url: Annotated[str | None, typer.Option("--url", metavar="URL", help="Events of another server.")] = None,
    key_file: Annotated[
        Path | None, typer.Option("--key-file", metavar="FILE", help="File with an API key of the server of --url.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsLines = False,
) -> None:
    """Forward events to a program under development.

    Each new event is posted once, in order, and signed like a webhook; a line shows the result. A post that fails is
    not repeated. The secret for the signature is printed first; it stays the same for a data directory or an API key.
    The command reconnects when the server comes back. Stop it with Ctrl-C.
    """
    import asyncio

    if (url is None) != (key_file is None):
        raise typer.BadParameter("--url and --key-file must be given together.")
    server = _parse_server_url(url) if url else None
    target, kinds = _parse_forward_url(forward), _parse_kinds(events)
    options = _ListenOptions(target, kinds, domain, server, key_file, data_dir, as_json)
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


def _parse_forward_url(text: str) -> str:
    from mailkeep.net.url import MalformedUrl, parse_url

    try:
        return parse_url(text, allow_http=True).url
    except MalformedUrl as error:
        raise typer.BadParameter(f"The URL of --forward {error}.") from None


def _parse_server_url(text: str) -> str:
    """The checked URL of a server that the API key is sent to."""
    from mailkeep.net.url import MalformedUrl, parse_url

    try:
        target = parse_url(text, allow_http=True)
    except MalformedUrl as error:
        raise typer.BadParameter(f"The URL of --url {error}.") from None
    if target.path not in ("", "/"):
        raise typer.BadParameter("--url must have no path.")
    address = target.host.address
    if target.scheme == "http" and target.host.text != "localhost" and not (address and address.is_loopback):
        raise typer.BadParameter("--url must be https, to protect the API key.")
    return target.url.removesuffix("/")


def _parse_kinds(text: str) -> Sequence[str]:
    from typing import get_args

    from mailkeep.features.record.events.model import Kind

    all_kinds: tuple[str, ...] = get_args(Kind)
    kinds = [each.strip() for each in text.split(",") if each.strip()]
    if not kinds or not {*kinds} <= {*all_kinds, "*"}:
        raise typer.BadParameter(f"--events takes {', '.join(all_kinds)} or *, separated by commas.")
    return kinds


async def _listen(options: _ListenOptions) -> None:
    from contextlib import AsyncExitStack

    from mailkeep.run.cli.event_forwarder import forward
    from mailkeep.run.runtime import logs

    logs.configure("error")
    async with AsyncExitStack() as stack:
        source, secret = await _open_source(options, stack)
        await _print_until_interrupted(options, forward(source, options.forward, secret, options.kinds))


async def _open_source(options: _ListenOptions, stack: AsyncExitStack) -> tuple[Source, str]:
    """Open the source of events; the source, and the secret that signs them."""
    import hmac

    from mailkeep.core.errors import Failure
    from mailkeep.run.cli import event_forwarder

    if options.server and options.key_file:
        key = options.key_file.read_text("ascii", "replace").strip()
        if not key.startswith("svc_") or not key.isascii() or not key.isprintable():
            raise Failure(f"{options.key_file} does not contain an API key (svc_…).", permanent=True)
        server = event_forwarder.RemoteServer(options.server, key)
        domain_id = await event_forwarder.find_domain(server, options.domain) if options.domain else None
        secret = _to_secret(hmac.digest(key.encode(), b"mailkeep listen", "sha256"))
        return event_forwarder.read_remote(server, domain_id, _callbacks(options, secret, server.url)), secret
    return await _open_local_source(options, stack)


async def _open_local_source(options: _ListenOptions, stack: AsyncExitStack) -> tuple[Source, str]:
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

    path = resolve_data_dir(options.data_dir)
    require_data_dir(path)
    running = state.read(path)
    if running is None:
        raise Failure(f"Mailkeep is not running on {path}: start it with `mailkeep up`.")
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
    secret = _to_secret(signature)
    callbacks = _callbacks(options, secret, running.http)
    return event_forwarder.read_local(app, cli_principal(), domain_id, callbacks), secret


def _to_secret(key: bytes) -> str:
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
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, printing.cancel)
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
    print(f"Forwarding events of {server} to {options.forward}, signed with the secret {secret}", flush=True)
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
        print(f"Events posted: {forwarded}; failed: {failed}.", flush=True)


def _print_problem(line: str) -> None:
    import sys

    print(line, file=sys.stderr, flush=True)
