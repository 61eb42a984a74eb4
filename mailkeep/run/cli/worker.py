"""The command that delivers beside an instance: worker."""

from __future__ import annotations

import typer

from mailkeep.run.cli.output import AsJson, DataDir, examples, report_errors, to_json


def register(app: typer.Typer) -> None:
    """Make this command known."""
    app.command("worker", epilog=examples("mailkeep worker", "mailkeep worker --data-dir /srv/mail"))(worker)


def worker(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Deliver to webhooks in a process of its own, in the foreground.

    A running Mailkeep has a worker already; any number may help it. They share the work by way of the database, and
    what one that dies has begun is another's within 30 seconds. It ends on Ctrl-C or SIGTERM. With --json one object
    tells its process as soon as it works.
    """
    with report_errors(as_json):
        import os

        from mailkeep.run.processes import worker as process
        from mailkeep.run.runtime.context import resolve_data_dir

        place = resolve_data_dir(data_dir)

        def tell() -> None:
            if as_json:
                print(to_json({"pid": os.getpid(), "data_dir": str(place)}), flush=True)

        raise typer.Exit(process.run(place, tell))
