"""The section for backups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mailkeep.settings.declaration import ALL, setting as _setting
from mailkeep.settings.formats import PATH, REPOSITORY, TIME_OF_DAY

Interval = Literal["off", "hourly", "daily", "weekly", "monthly"]
"""How often something is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupSettings:
    """Backups with restic; docs/howto/backups.md."""

    repository: str = _setting(
        "",
        "Where backups are stored: an absolute path, `sftp:USER@HOST:/PATH`, `sftp://USER@HOST:PORT//PATH`, "
        "`s3:https://HOST/BUCKET` or `rest:https://HOST/NAME`. Empty: the folder `backup/repository` in the data "
        "directory, which does not survive the machine.",
        REPOSITORY,
    )
    schedule: Literal["off", "hourly", "daily"] = _setting("off", "How often a backup is made.")
    start_time: str = _setting("02:30", "When daily backups and verifications begin (UTC).", TIME_OF_DAY)
    keep_hourly: int = _setting(24, "How many hours keep their newest backup.", low=0, high=10_000)
    keep_daily: int = _setting(7, "How many days keep their newest backup.", low=0, high=10_000)
    keep_weekly: int = _setting(5, "How many weeks keep their newest backup.", low=0, high=10_000)
    keep_monthly: int = _setting(12, "How many months keep their newest backup.", low=0, high=10_000)
    append_only: bool = _setting(
        False,
        "The repository accepts no deletions, as of `rclone serve restic --append-only`: old backups are not removed.",
    )
    verify_every: Literal["off", "daily", "weekly", "monthly"] = _setting(
        "weekly", "How often the newest backup is restored to a temporary folder and compared."
    )
    wal_archive: bool = _setting(
        False,
        "Store the database's write-ahead log each minute, so that an instance can be restored to any time since the "
        "first backup afterwards. It costs about a second of CPU time a minute.",
    )
    wal_keep_days: int = _setting(7, "For how many days the write-ahead log is kept.", low=1, high=366)
    upload_kib_per_second: int = _setting(
        0, "Maximum rate of uploads, in KiB per second; 0: no limit.", low=0, high=10_000_000
    )
    s3_access_key: str = _setting("", "The ID of the access key for S3.")
    s3_secret_key: str = _setting("", "The secret access key for S3.", secret=True)
    s3_region: str = _setting("", "The region of the S3 bucket; empty: the server's default.")
    rest_username: str = _setting("", "The user name at the REST server.")
    rest_password: str = _setting("", "The password at the REST server.", secret=True)
    sftp_key_file: str = _setting(
        "", "The private SSH key for SFTP; a file of root.", PATH, stored=False, read_at_start=ALL
    )
    sftp_known_hosts_file: str = _setting(
        "", "The host keys of the SFTP server, in the format known_hosts.", PATH, stored=False, read_at_start=ALL
    )
