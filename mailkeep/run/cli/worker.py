"""The command `mailkeep worker`."""

from __future__ import annotations

import typer

from mailkeep.run.cli.output import AsJson, DataDir, examples, report_errors, to_json


def register(app: typer.Typer) -> None:
    """Add this command."""
    app.command("worker", epilog=examples("mailkeep worker", "mailkeep worker --data-dir /srv/mail"))(worker)


def worker(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Deliver webhooks and carry out bulk operations in an additional process, in the foreground.

    A running Mailkeep has one worker; you can start more, which share the work through the database. If a worker
    dies, the others take over its work within 30 seconds. Stop it with Ctrl-C or SIGTERM. With --json it prints one
    object with its process ID once it is running.
    """
    with report_errors(as_json):
        import os

        from mailkeep.run.processes import worker as process
        from mailkeep.run.runtime.context import resolve_data_dir

        path = resolve_data_dir(data_dir)

        def print_pid() -> None:
            if as_json:
                print(to_json({"pid": os.getpid(), "data_dir": str(path)}), flush=True)

        raise typer.Exit(process.run(path, print_pid))
