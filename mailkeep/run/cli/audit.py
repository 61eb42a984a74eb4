"""The command that verifies the audit log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mailkeep.run.cli.output import (
    REFUSED,
    AsJson,
    CommandResult,
    DataDir,
    MarkedLine,
    examples,
    open_app,
    require_data_dir,
    run_command,
)

if TYPE_CHECKING:
    from mailkeep.features.record.audit.model import AuditVerification, ChainFault


def register(app: typer.Typer) -> None:
    """Add these commands."""
    audit = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="The audit log.")
    audit.command(
        "verify",
        epilog=examples(
            "mailkeep audit verify",
            "mailkeep audit verify audit-2026-11-21.ndjson",
            "mailkeep audit verify audit.ndjson --public-key 11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
        ),
    )(verify)
    app.add_typer(audit, name="audit")


def verify(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="An export in NDJSON; default: the log itself.")
    ] = None,
    public_key: Annotated[
        str | None,
        typer.Option(
            "--public-key",
            metavar="KEY",
            help="Public key of the server that exported the file (see `GET /audit/verify`). Default: the data "
            "directory's key, or without one the key in the file.",
        ),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Verify that the audit log has not been changed.

    Lists entries that were altered, removed or inserted, in the log itself or in an export (without a server).
    """
    if file is None:
        if public_key is not None:
            raise typer.BadParameter("--public-key requires FILE.")
        run_command(as_json, _verify_log(data_dir))
    else:
        run_command(as_json, _verify_file(data_dir, file, _parse_key(public_key)))


def _parse_key(text: str | None) -> bytes | None:
    from base64 import b64decode

    if text is None:
        return None
    try:
        key = b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise typer.BadParameter("--public-key takes 32 bytes in base64.")
    return key


async def _verify_log(data_dir: Path | None) -> CommandResult:
    from mailkeep.features.record.audit import service

    async with open_app(data_dir) as app:
        verification = await service.verify(app)
    return _verification_result(verification, None)


async def _verify_file(data_dir: Path | None, file: Path, key: bytes | None) -> CommandResult:
    from mailkeep.core.errors import Failure
    from mailkeep.features.record.audit import service

    key = key or _load_own_key(data_dir)
    with file.open("rb") as lines:
        try:
            verification = service.verify_export(lines, key)
        except ValueError as error:
            raise Failure(f"{file} can't be verified: {error}.", permanent=True) from error
    note = None if key else "Verified with the public key in the file: compare it with the server's."
    return _verification_result(verification, note)


def _load_own_key(data_dir: Path | None) -> bytes | None:
    """The public key of the data directory, None without one. Failure if the option names one that is missing."""
    from mailkeep.features.record.audit.model import SEAL_KEY_PURPOSE
    from mailkeep.run.runtime import context
    from mailkeep.settings import load_settings

    path = context.resolve_data_dir(data_dir)
    if data_dir is not None:
        require_data_dir(path)
    loaded = load_settings(path)
    if not loaded.first_start.secret_file and not (path / context.SECRET).exists():
        return None
    return context.open_vault(path, loaded).public_key(SEAL_KEY_PURPOSE)


def _verification_result(verification: AuditVerification, note: str | None) -> CommandResult:
    from base64 import b64encode

    from mailkeep.core.clock import iso

    head = verification.head
    data: dict[str, Any] = {
        "ok": verification.ok,
        "checked": verification.checked,
        "unsealed": verification.unsealed,
        "first_bad": verification.faults[0].id if verification.faults else None,
        "bad": [{"problem": fault.problem, "id": fault.id, "seal": fault.seal} for fault in verification.faults],
        "bad_count": verification.fault_count,
        "head": head and {"sequence": head.sequence, "sealed_at": iso(head.sealed_at), "hash": head.hash.hex()},
        "partial": verification.partial,
        "public_key": b64encode(verification.public_key).decode(),
    }
    mark, style = ("ok:", "bold green") if verification.ok else ("bad:", "bold red")
    count = f"{verification.checked} entries checked, {verification.unsealed} not sealed yet"
    lines: list[str | MarkedLine] = [MarkedLine(mark, style, count), *map(_fault_line, verification.faults)]
    if verification.fault_count > len(verification.faults):
        lines.append(f"and {verification.fault_count - len(verification.faults)} more")
    if head:
        lines.append(f"Newest seal: {head.sequence} of {iso(head.sealed_at)}, key {data['public_key']}")
    if verification.partial:
        lines.append("The export has filters: missing entries can't be detected.")
    return CommandResult(data, [*lines, note] if note else lines, 0 if verification.ok else REFUSED)


def _fault_line(fault: ChainFault) -> str:
    if fault.problem == "truncated":
        return (
            f"  the log was cut off: seal {fault.seal} is not in it (after restoring an older database, remove the "
            "file audit-head from the data directory)"
        )
    if fault.seal is not None:
        return f"  seal {fault.seal} was {fault.problem.removeprefix('seal_')}"
    return f"  entry {fault.id} was {fault.problem}"
