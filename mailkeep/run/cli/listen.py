"""`mailkeep listen`: the command."""

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

AsLines = Annotated[bool, typer.Option("--json", help="Answer with a JSON object on each line.")]


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
    events: Annotated[
        str, typer.Option("--events", metavar="KINDS", help="Kinds of events, with commas between.")
    ] = "*",
    domain: Annotated[str | None, typer.Option("--domain", metavar="NAME", help="Only of this domain.")] = None,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Another server, with --key-file; not this machine's.")
    ] = None,
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
    asked = _ListenOptions(_forward_url(forward), _kinds(events), domain, server, key_file, data_dir, as_json)
    with report_errors(as_json):
        asyncio.run(_listen(asked))


@dataclass(frozen=True, slots=True)
class _ListenOptions:
    """What the command was given, checked: URLs in their canonical form, `server` without a path."""

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
    """A server's address, to which a key may be shown."""
    from mailkeep.net.url import MalformedUrl, parse_url

    try:
        target = parse_url(text, allow_http=True)
    except MalformedUrl as error:
        raise typer.BadParameter(f"The URL {error}.") from None
    if target.path not in ("", "/"):
        raise typer.BadParameter("--url takes a server's address without a path.")
    address = target.host.address
    if target.scheme == "http" and target.host.text != "localhost" and not (address and address.is_loopback):
        raise typer.BadParameter("--url must be https: the API key would be read on the way.")
    return target.url.removesuffix("/")


def _kinds(text: str) -> Sequence[str]:
    from typing import get_args

    from mailkeep.features.record.events.model import Kind

    known: tuple[str, ...] = get_args(Kind)
    kinds = [each.strip() for each in text.split(",") if each.strip()]
    if not kinds or not {*kinds} <= {*known, "*"}:
        raise typer.BadParameter(f"--events takes {', '.join(known)} or *, with commas between.")
    return kinds


async def _listen(asked: _ListenOptions) -> None:
    from contextlib import AsyncExitStack

    from mailkeep.run.cli.event_forwarder import forward
    from mailkeep.run.runtime import logs

    logs.configure("error")  # standard output is for the answers
    async with AsyncExitStack() as stack:
        source, secret = await _source(asked, stack)
        await _print_until_interrupted(asked, forward(source, asked.forward, secret, asked.kinds))


async def _source(asked: _ListenOptions, stack: AsyncExitStack) -> tuple[Source, str]:
    """The events, and the secret they are signed with."""
    import hmac

    from mailkeep.core.errors import Failure
    from mailkeep.run.cli import event_forwarder

    if asked.server and asked.key_file:
        key = asked.key_file.read_text("ascii", "replace").strip()
        if not key.startswith("svc_") or not key.isascii() or not key.isprintable():
            raise Failure(f"{asked.key_file} holds no API key.", permanent=True)
        server = event_forwarder.RemoteServer(asked.server, key)
        domain_id = await event_forwarder.find_domain(server, asked.domain) if asked.domain else None
        secret = _secret(hmac.digest(key.encode(), b"mailkeep listen", "sha256"))
        return event_forwarder.remote(server, domain_id, _report(asked, secret, server.url)), secret
    return await _local(asked, stack)


async def _local(asked: _ListenOptions, stack: AsyncExitStack) -> tuple[Source, str]:
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

    place = resolve_data_dir(asked.data_dir)
    require_data_dir(place)
    running = state.read(place)
    if running is None:
        raise Failure(f"Mailkeep does not run on {place}: start it with `mailkeep up`.")
    app = await stack.enter_async_context(open_app(asked.data_dir))
    domain_id = None
    if asked.domain:
        async with app.db.autocommit() as conn:
            domain = await domains.find_by_name(conn, rules.parse_name(asked.domain))
        if domain is None:
            raise DomainNotFound(f"There is no domain {asked.domain}.")
        domain_id = domain.id
    watching = asyncio.create_task(jobs.watch(app))
    stack.callback(watching.cancel)
    drawn = decode_base64url(app.vault.sign("listen", b""))
    assert drawn is not None
    secret = _secret(drawn)
    return event_forwarder.local(app, cli_principal(), domain_id, _report(asked, secret, running.http)), secret


def _secret(drawn: bytes) -> str:
    from base64 import b64encode

    return "whsec_" + b64encode(drawn).decode()


async def _print_until_interrupted(asked: _ListenOptions, fates: AsyncIterator[ForwardResult]) -> None:
    """Tell each fate, until Ctrl-C or SIGTERM; both end it well."""
    import asyncio
    import contextlib
    import signal

    counted = [0, 0]

    async def tell() -> None:
        async for fate in fates:
            counted[0] += 1
            counted[1] += not (fate.status and 200 <= fate.status < 300)
            _print_result(asked, fate)

    telling = asyncio.create_task(tell())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, telling.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await telling
    _print_end(asked, *counted)


def _report(asked: _ListenOptions, secret: str, where: str) -> SourceCallbacks:
    from mailkeep.run.cli.event_forwarder import SourceCallbacks

    return SourceCallbacks(lambda: _print_start(asked, secret, where), _notice)


def _print_start(asked: _ListenOptions, secret: str, where: str) -> None:
    from mailkeep.run.cli.output import to_json

    if asked.as_json:
        told = {"from": where, "forward": asked.forward, "events": asked.kinds, "secret": secret}
        print(to_json({"listening": told}), flush=True)
        return
    print(f"Events of {where} go to {asked.forward}, signed with the secret {secret}", flush=True)
    print("Stop with Ctrl-C.", flush=True)


def _print_result(asked: _ListenOptions, fate: ForwardResult) -> None:
    from mailkeep.core.clock import iso, utc_now
    from mailkeep.run.cli.output import to_json

    content = fate.content
    if asked.as_json:
        told = {
            "event_id": content.event_id,
            "event": content.kind,
            "message_id": content.message_id,
            "status": fate.status,
            "duration_ms": fate.duration_ms,
            "error": fate.error,
        }
        print(to_json(told), flush=True)
        return
    result = f"{fate.status}" if fate.error is None else fate.error
    print(f"{iso(utc_now())[11:19]}  {content.kind:18} {content.event_id}  {result}  {fate.duration_ms} ms", flush=True)


def _print_end(asked: _ListenOptions, forwarded: int, failed: int) -> None:
    from mailkeep.run.cli.output import to_json

    if asked.as_json:
        print(to_json({"ended": {"forwarded": forwarded, "failed": failed}}), flush=True)
    else:
        print(f"Forwarded {forwarded}; {failed} of them failed.", flush=True)


def _notice(line: str) -> None:
    import sys

    print(line, file=sys.stderr, flush=True)
