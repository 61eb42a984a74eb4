"""`make prove-import`: 10,000 mailboxes from a table with 50 faulty rows, while administrators sign in."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.prove.checks import Checks
from tests.prove.circumstances import circumstances
from tests.support import instance
from tests.support.imports import DOMAIN, Import, Session, count_half_created, run_import, write_table

ROWS, FAULTY = 10_000, 50


def main() -> int:
    print(circumstances(f"{ROWS:,} mailboxes imported from CSV, of which {FAULTY} rows are faulty"), flush=True)
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="mailkeep-import-") as folder:
        session = Session(instance.start(Path(folder) / "data"))
        session.call("POST", "/domains", {"name": DOMAIN})
        table = Path(folder) / "staff.csv"
        expected = write_table(table, ROWS, FAULTY)
        trial = run_import(session, table, "--dry-run")
        _describe("dry run", trial)
        checks.check("the dry run reports the faulty rows and no other", trial.codes() == expected)
        checks.check("the dry run creates nothing", session.call("GET", "/mailboxes") == [])
        done = run_import(session, table)
        _describe("import", done)
        checks.check("the import reports the faulty rows and no other", done.codes() == expected)
        wrong = count_half_created(session, ROWS - FAULTY)
        checks.check("all others exist once and completely", not wrong, str(dict(wrong)) if wrong else "")
        for each in done.output["errors"][:10]:
            print(f"        row {each['row']}: {each['code']}: {each['message']}")
        checks.check("the instance stops", session.instance.stop() == 0)
    return 1 if checks.failed else 0


def _describe(name: str, result: Import) -> None:
    rate = ROWS / result.seconds
    logins = f"{len(result.login_seconds)} logins meanwhile: median {median(result.login_seconds):.2f} s"
    print(
        f"  {name}: {result.seconds:.0f} s, {rate:.0f} rows a second; memory at its peak: instance "
        f"{result.server_mib:.0f} MiB, command {result.client_mib:.0f} MiB; {logins}, longest "
        f"{max(result.login_seconds):.2f} s",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
