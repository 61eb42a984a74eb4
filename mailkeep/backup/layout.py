"""What a snapshot contains: the entries of its folder, and the manifest that describes it.

manifest.json   this module
index.sqlite    mailboxes and messages (`index`)
database/       a physical copy of the cluster (pg_basebackup), with its backup_manifest
queue/          Postfix's queue (full profile)
content/        contents of messages
mail/           mailboxes, each a folder named by its ID
instance/       secret, instance-id, settings, overlays, tls, configuration generations and the filter's statistics,
                with the paths that they have in the data directory
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from uuid import UUID

import msgspec

from mailkeep.core.errors import Failure

FORMAT = 1
"""The version of this layout. A snapshot with a higher one needs a newer Mailkeep."""

MANIFEST, INDEX = "manifest.json", "index.sqlite"
DATABASE, QUEUE, CONTENT, MAIL, INSTANCE = "database", "queue", "content", "mail", "instance"
ENTRIES = frozenset({MANIFEST, INDEX, DATABASE, QUEUE, CONTENT, MAIL, INSTANCE})
"""The names that the folder of a snapshot may have."""

_MOST_BYTES = 1 << 20


class Counts(msgspec.Struct, frozen=True):
    """How many domains, mailboxes and messages in mailboxes a snapshot has."""

    domains: int = 0
    mailboxes: int = 0
    messages: int = 0


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The properties of a snapshot.

    `began_at`: what was acknowledged before it is in the snapshot. `rows`: the number of rows of the tables that only
    grow, at that time. `migrations`: the names of the files of the schema. `lsn` and `timeline`: where the copy of the
    database begins in the write-ahead log.
    """

    format: int = FORMAT
    backup_id: UUID
    instance_id: str
    profile: str
    mailkeep_version: str
    postgresql_major: int
    migrations: list[str]
    began_at: datetime
    counts: Counts
    rows: dict[str, int]
    mail_bytes: int
    lsn: str
    timeline: int


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest into the folder of a snapshot."""
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a restored snapshot. Failure if it is not valid, or from a newer Mailkeep."""
    path = folder / MANIFEST
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            raise Failure("The snapshot's manifest is not a file of less than a megabyte.", permanent=True)
        content = path.read_bytes()
    except OSError as error:
        raise Failure(
            f"The snapshot has no manifest: {error.strerror}. It is not one of Mailkeep's.", permanent=True
        ) from None
    return parse_manifest(content)


def parse_manifest(content: bytes) -> Manifest:
    """A manifest from its JSON. Failure if it is not valid, or from a newer Mailkeep."""
    try:
        found = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
        version = msgspec.json.decode(found.get("format", msgspec.Raw(b"0")), type=int)
    except msgspec.MsgspecError as error:
        raise Failure(f"The snapshot's manifest is not valid: {error}.", permanent=True) from None
    if version > FORMAT:
        raise Failure(
            f"The backup has format {version}; this Mailkeep reads up to {FORMAT}. Install a newer one.", permanent=True
        )
    try:
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.MsgspecError as error:
        raise Failure(f"The snapshot's manifest is not valid: {error}.", permanent=True) from None
