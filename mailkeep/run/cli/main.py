"""The command line `mailkeep COMMAND`, put together from one module for each topic.

All commands have `--help` with examples, `--json` for one JSON object on standard output, errors on standard error, and
the exit codes of `run.cli.output`. Commands import large libraries themselves, so that `mailkeep --help` is fast.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import typer

from mailkeep.run.cli import (
    abuse as cli_abuse,
    accounts as cli_accounts,
    alerts as cli_alerts,
    alias as cli_alias,
    audit as cli_audit,
    backup as cli_backup,
    certificates as cli_certificates,
    config as cli_config,
    database as cli_database,
    dkim as cli_dkim,
    dns as cli_dns,
    domain as cli_domain,
    filter as cli_filter,
    incidents as cli_incidents,
    instance as cli_instance,
    junk as cli_junk,
    keys as cli_keys,
    listen as cli_listen,
    mailbox as cli_mailbox,
    orchestrator as cli_orchestrator,
    product as cli_product,
    queue as cli_queue,
    restore as cli_restore,
    sendmail as cli_sendmail,
    sign_in_blocks as cli_sign_in_blocks,
    template as cli_template,
    upgrade as cli_upgrade,
    worker as cli_worker,
)
from mailkeep.run.cli.output import EXIT_CODES

app = typer.Typer(
    name="mailkeep",
    help="A self-hosted mail server, managed through one JSON HTTP API.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for topic in (
    cli_instance,
    cli_upgrade,
    cli_database,
    cli_config,
    cli_accounts,
    cli_keys,
    cli_backup,
    cli_certificates,
    cli_sign_in_blocks,
    cli_alerts,
    cli_incidents,
    cli_abuse,
    cli_audit,
    cli_domain,
    cli_product,
    cli_mailbox,
    cli_junk,
    cli_alias,
    cli_filter,
    cli_dns,
    cli_dkim,
    cli_template,
    cli_queue,
    cli_restore,
    cli_orchestrator,
    cli_sendmail,
    cli_listen,
    cli_worker,
):
    topic.register(app)


def main() -> None:
    """The entry point of `mailkeep`, and of `sendmail` (its options are those of other mail servers, not typer's)."""
    if sys.argv[1:2] not in (["up"], ["worker"]):
        # What is imported is no garbage: looking for some every 700 objects takes a tenth of the time of a command.
        gc.set_threshold(50_000)
    if Path(sys.argv[0]).name == "sendmail":
        sys.exit(cli_sendmail.main(sys.argv[1:]))
    if sys.argv[1:2] == ["sendmail"]:
        sys.exit(cli_sendmail.main(sys.argv[2:]))
    app(prog_name="mailkeep")


if __name__ == "__main__":
    main()
