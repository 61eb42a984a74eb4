"""`mailkeep upgrade`: replace the running version by that of a wheel."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mailkeep.run.cli.output import AsJson, CommandResult, DataDir, examples, print_lines, run_command

if TYPE_CHECKING:
    from mailkeep.run.runtime.upgrade import Preparation


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(
        "upgrade",
        epilog=examples(
            "mailkeep upgrade mailkeep-1.3.0-py3-none-any.whl --check",
            "mailkeep upgrade mailkeep-1.3.0-py3-none-any.whl --sha256 5f70bf18a086007016e948b04aed3b82103a36be...",
        ),
    )(upgrade)


def upgrade(
    wheel: Annotated[Path, typer.Argument(metavar="WHEEL", help="The file with the new version.")],
    check: Annotated[
        bool, typer.Option("--check", help="Only check whether the upgrade is possible; runs nothing of the wheel.")
    ] = False,
    sha256: Annotated[
        str | None, typer.Option("--sha256", metavar="HEX", help="The published hash of the wheel; another is refused.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Upgrade without a question.")] = False,
    find_links: Annotated[
        Path | None,
        typer.Option(
            "--find-links",
            metavar="DIR",
            exists=True,
            file_okay=False,
            resolve_path=True,
            help="A folder with the wheels that the new version needs, instead of the package index.",
        ),
    ] = None,
    without_backup: Annotated[
        bool, typer.Option("--without-backup", help="Make no backup before. You have one of your own.")
    ] = False,
    watch: Annotated[
        int, typer.Option("--watch", min=1, max=60, help="How long to watch the new version, in seconds.")
    ] = 20,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Upgrade the running instance to the version of a wheel.

    Checks the wheel, makes a new environment beside this one and a backup, restarts with the new version, and checks
    that it is as healthy as this one. If anything fails, this version runs again, and nothing is lost. Shows the hash
    of the wheel and asks, unless `--yes` is given; without a terminal it must be given, with `--sha256`.
    """
    if yes and sha256 is None and not check:
        raise typer.BadParameter("--yes requires --sha256: nobody would compare the hash of the wheel.")
    options = (sha256, check, yes, find_links, not without_backup, float(watch))
    run_command(as_json, _upgrade(data_dir, wheel, *options))


async def _upgrade(
    data_dir: Path | None,
    source: Path,
    sha256: str | None,
    only_check: bool,
    yes: bool,
    find_links: Path | None,
    with_backup: bool,
    watch_seconds: float,
) -> CommandResult:
    from mailkeep import __version__
    from mailkeep.run.cli.accounts import cli_principal
    from mailkeep.run.runtime import upgrade as upgrading
    from mailkeep.run.runtime.context import resolve_data_dir

    async with upgrading.prepare(resolve_data_dir(data_dir), source, sha256) as preparation:
        wheel = preparation.wheel
        data = {
            "from": __version__,
            "to": wheel.version,
            "sha256": wheel.sha256,
            "signed": preparation.is_signed,
            "migrations": preparation.new_migrations,
            "upgraded": not only_check,
        }
        lines = _describe(preparation)
        if only_check:
            return CommandResult(data, [*lines, "The upgrade is possible. Nothing was changed."])
        print_lines(lines, sys.stderr)
        if not yes:
            typer.confirm("Is that the published hash, and shall this version be upgraded?", abort=True, err=True)
        await upgrading.perform(
            preparation,
            cli_principal(),
            lambda line: print_lines([line], sys.stderr),
            find_links=find_links,
            with_backup=with_backup,
            watch_seconds=watch_seconds,
        )
    return CommandResult(data, [f"Mailkeep {wheel.version} is running. {__version__} is still installed beside it."])


def _describe(preparation: Preparation) -> list[str]:
    from mailkeep import __version__

    wheel, names = preparation.wheel, preparation.new_migrations
    migrations = f"{len(names)}, which only add or remove what this version does not use" if names else "none"
    return [
        f"Mailkeep {__version__} -> {wheel.version}",
        f"  SHA-256     {wheel.sha256}",
        f"  signature   {'valid' if preparation.is_signed else 'not required: there is no release key'}",
        f"  migrations  {migrations}",
        f"  packages    {wheel.requirements}, each with its hash",
    ]
