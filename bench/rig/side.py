"""One side of a comparison of versions: an instance of the version in the current folder, with mailboxes.

A program of its own, so that each side runs the code of its checkout. After the start it writes a line of JSON with its
ports; then, for each line that it reads, the seconds of CPU of all its processes so far, by service. It stops when its
input ends. `python side.py LIST`: `allow` or `deny` for entries in that list, of which none matches; `none`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg

from bench.full import PEOPLE, SINK
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres import socket_urls
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.runtime import service_status
from tests.stack import harness
from tests.stack.harness import Stack

_TICKS = os.sysconf("SC_CLK_TCK")
_ENTRIES = {"server": 100_000, "domain": 10_000, "mailbox": 1_000}
"""As many as possible."""


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="mailkeep-bench-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        harness.start(folder, SINK)
        stack = Stack(folder)
        places = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
        domain = stack.make_domain("example.test")
        mailboxes = [stack.make_mailbox(domain, name)["id"] for name in PEOPLE]
        if sys.argv[1] != "none":
            add_entries(places, domain, mailboxes, sys.argv[1])
        print(json.dumps({"ports": stack.ports, "postfix_conf": str(places.postfix_conf)}), flush=True)
        for _ in sys.stdin:
            # Ends Postfix's processes, so that the next round has none that are warm.
            subprocess.run(["postfix", "-c", str(places.postfix_conf), "reload"], check=True, capture_output=True)
            print(json.dumps(spent(stack, places)), flush=True)
    finally:
        harness.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def add_entries(places: InstancePaths, domain: str, mailboxes: list[str], which: str) -> None:
    """Entries of each kind, for the server, the domain and each mailbox."""
    owners = [(None, None, "server"), (domain, None, "domain"), *((None, each, "mailbox") for each in mailboxes)]
    with psycopg.connect(socket_urls(places.run).owner, autocommit=True) as conn:
        for domain_id, mailbox_id, scope in owners:
            conn.execute(
                """
                INSERT INTO filter_entries (id, domain_id, mailbox_id, list, kind, value, created_by, created_at)
                SELECT gen_random_uuid(), %(domain_id)s::uuid, %(mailbox_id)s::uuid, %(list)s, v.kind, v.value, 'bench',
                       now()
                FROM generate_series(1, %(count)s) i, LATERAL (
                    SELECT 'address' AS kind, 'n' || i || '@never.test' AS value WHERE i %% 3 = 0
                    UNION ALL SELECT 'domain', 'n' || i || '.test' WHERE i %% 3 = 1
                    UNION ALL SELECT 'network', '10.' || i / 256 %% 256 || '.' || i %% 256 || '.' || i / 65536 || '/32'
                        WHERE i %% 3 = 2) v
                """,
                {"domain_id": domain_id, "mailbox_id": mailbox_id, "list": which, "count": _ENTRIES[scope]},
            )
        conn.execute("VACUUM ANALYZE filter_entries")


def spent(stack: Stack, places: InstancePaths) -> dict[str, float]:
    """Seconds of CPU of all processes below `up`, also of those that have ended, by the service that they belong to."""
    up = int((stack.data_dir / "lock").read_text())
    names = {part.pid: part.name for part in service_status.list_services(places.run) if part.pid} | {up: "up"}
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {}
    commands: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            # proc(5): pid (comm) state ppid …, 14 to 17: utime, stime, cutime, cstime
            name, fields = text.partition("(")[2].rpartition(")")[0], text.rpartition(")")[2].split()
            pid = int(entry.name)
            parents[pid], commands[pid] = int(fields[1]), name
            seconds[pid] = sum(map(int, fields[11:15])) / _TICKS
    found: dict[str, float] = {}
    for pid, used in seconds.items():
        above = pid
        while above and above not in names:
            if parents.get(above) == up:
                break
            above = parents.get(above, 0)
        if above:
            name = names.get(above, commands[above])
            found[name] = found.get(name, 0.0) + used
    return found


if __name__ == "__main__":
    main()
