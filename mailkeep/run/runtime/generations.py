"""The generations of the daemons' configuration: `generations/000123/{redis,rspamd,dovecot,postfix}` with a manifest.

A generation is complete and is never changed by us after it was staged. `postfix/conf` and the others are symbolic
links into the generation in use, which rename(2) replaces: at any time, also after a crash, a daemon sees the complete
old configuration or the complete new one. What Postfix and Dovecot compile from the files (`GENERATED`) is in the same
folders, but in no manifest.
"""

from __future__ import annotations

import contextlib
import grp
import hashlib
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from mailkeep.db.instance import write_atomically
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.render import Files
from mailkeep.run.cli import install

KEPT = 20
"""How many generations are kept."""
GENERATED = (".svbin", ".lmdb", ".db", ".dir", ".pag")
_MANIFEST = "manifest.json"
_RENDERED = "rendered"
"""The folder with the files as they were rendered, for comparison. Only root has access."""
_GROUPS = {
    "redis": "_rspamd",
    "clamd": "_rspamd",
    "freshclam": "_rspamd",
    "rspamd": "_rspamd",
    "dovecot": install.MAIL_ACCOUNT,
    "postfix": "postfix",
    "unbound": "unbound",
    "webmail": install.ACCOUNT,
    "php-fpm": install.WEBMAIL_ACCOUNT,
    "nginx": install.EDGE_ACCOUNT,
}
SERVICES = tuple(_GROUPS)
"""The services that have a configuration."""

_FILE_AGE = 5.0

DriftKind = Literal["changed", "deleted", "added"]


class GenerationManifest(msgspec.Struct, frozen=True):
    """A generation: when it was staged, the revision of the settings, and the versions of the daemons. `services` has
    the SHA-256 of each file as it was rendered, by service and path.
    """

    n: int
    created_at: datetime
    revision: int
    versions: Mapping[str, str]
    services: Mapping[str, Mapping[str, str]]

    def has(self, rendered: Mapping[str, Files]) -> bool:
        """Whether these files were rendered for this generation."""
        return self.services == hash_files(rendered)


@dataclass(frozen=True, slots=True)
class Drift:
    """A file of a generation in use that differs from what was rendered. `changed_at` is its modification time, `owner`
    its owner's user ID and `sha256` its hash; all None if it was deleted.
    """

    service: str
    path: str
    kind: DriftKind
    changed_at: datetime | None
    owner: int | None
    sha256: str | None


def hash_files(rendered: Mapping[str, Files]) -> dict[str, dict[str, str]]:
    """The SHA-256 of each file, by service and path."""
    return {
        service: {path: hashlib.sha256(text.encode()).hexdigest() for path, text in files.items()}
        for service, files in rendered.items()
    }


def folder_of(paths: InstancePaths, n: int) -> Path:
    """The folder of a generation."""
    return paths.generations / f"{n:06}"


def list_generations(paths: InstancePaths) -> list[int]:
    """The numbers of all complete generations, ascending."""
    return sorted(int(each.name) for each in paths.generations.glob("[0-9]*") if each.name.isdigit())


def read_manifest(paths: InstancePaths, n: int) -> GenerationManifest:
    """The manifest of a generation; FileNotFoundError."""
    return msgspec.json.decode((folder_of(paths, n) / _MANIFEST).read_bytes(), type=GenerationManifest)


def list_manifests(paths: InstancePaths) -> list[GenerationManifest]:
    """The manifests of all generations, ascending; without those that can't be read, such as one just removed."""
    manifests: list[GenerationManifest] = []
    for n in list_generations(paths):
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            manifests.append(read_manifest(paths, n))
    return manifests


def find_linked(paths: InstancePaths, service: str) -> int | None:
    """The generation that a service uses; None before the first."""
    try:
        return int(paths.conf(service).readlink().parent.name)
    except (OSError, ValueError):
        return None


def is_complete(paths: InstancePaths, n: int, service: str) -> bool:
    """Whether a generation has its manifest and the folder of a service."""
    return (folder_of(paths, n) / _MANIFEST).is_file() and (folder_of(paths, n) / service).is_dir()


def is_on(paths: InstancePaths, service: str) -> bool:
    """Whether a service is needed: its configuration in use has files. True for one without a configuration."""
    return service not in _GROUPS or not paths.conf(service).is_dir() or any(paths.conf(service).iterdir())


def find_current(paths: InstancePaths) -> GenerationManifest | None:
    """The newest generation that a service uses; None if there is none, or if another service uses an older one with
    other files.
    """
    linked = {service: n for service in _GROUPS if (n := find_linked(paths, service)) is not None}
    if len(linked) < len(_GROUPS):
        return None
    try:
        current = read_manifest(paths, max(linked.values()))
        older = {service: read_manifest(paths, n) for service, n in linked.items() if n != current.n}
    except (OSError, msgspec.MsgspecError):
        return None
    has_others = any(each.services.get(service) != current.services.get(service) for service, each in older.items())
    return None if has_others else current


def hash_manifest(files: Mapping[str, str]) -> str:
    """A hash of a service's files, from their own."""
    return hashlib.sha256(msgspec.json.encode(files, order="deterministic")).hexdigest()


def stage(
    paths: InstancePaths,
    manifest: GenerationManifest,
    rendered: Mapping[str, Files],
    edits: Mapping[str, Files] | None = None,
) -> Path:
    """Write a generation to a temporary folder, which `publish` renames. `edits` are an administrator's versions of
    files, used instead of the rendered ones, which are kept beside them.
    """
    folder = draft_of(paths, manifest.n)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    for service, texts in rendered.items():
        _write_files(folder / service, {**texts, **(edits or {}).get(service, {})}, _GROUPS[service])
        for path, text in texts.items():
            copy = folder / _RENDERED / service / path
            copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            copy.write_text(text, "utf-8")
    (folder / _RENDERED).chmod(0o700)
    write_atomically(folder / _MANIFEST, msgspec.json.encode(manifest).decode() + "\n", 0o600)
    return folder


def draft_of(paths: InstancePaths, n: int) -> Path:
    """The temporary folder of a generation."""
    return paths.generations / f"{n:06}.new"


def publish(paths: InstancePaths, n: int) -> None:
    """Rename the temporary folder of a generation to its name, durably."""
    for folder, _, names in os.walk(draft_of(paths, n)):
        for name in (*names, "."):
            sync(Path(folder) / name)
    draft_of(paths, n).rename(folder_of(paths, n))
    sync(paths.generations)


def switch(paths: InstancePaths, service: str, n: int) -> None:
    """Let a service use a generation. Atomic and durable."""
    link = paths.conf(service)
    if link.is_dir() and not link.is_symlink():
        shutil.rmtree(link)  # of a version without generations
    draft = link.with_name("conf.new")
    draft.unlink(missing_ok=True)
    draft.symlink_to(Path("..") / "generations" / f"{n:06}" / service)
    draft.rename(link)
    sync(link.parent)


def prune(paths: InstancePaths) -> None:
    """Remove all but the newest generations and those in use."""
    in_use = {find_linked(paths, service) for service in _GROUPS}
    for n in list_generations(paths)[:-KEPT]:
        if n not in in_use:
            shutil.rmtree(folder_of(paths, n), ignore_errors=True)


def remove_draft(paths: InstancePaths, n: int) -> None:
    """Remove the temporary folder of a generation, if there is one."""
    shutil.rmtree(draft_of(paths, n), ignore_errors=True)


def remove_drafts(paths: InstancePaths) -> None:
    """Remove temporary folders that a killed process left. Nobody may be staging."""
    for draft in paths.generations.glob("*.new"):
        shutil.rmtree(draft, ignore_errors=True)


def find_drift(paths: InstancePaths, manifest: GenerationManifest) -> list[Drift]:
    """The files in use that differ from what was rendered for this generation, by service and path."""
    found: list[Drift] = []
    for service, rendered in manifest.services.items():
        folder = _folder_in_use(paths, service)
        on_disk = _hash_folder(folder)
        for path in sorted(rendered.keys() | on_disk.keys()):
            if on_disk.get(path) != rendered.get(path):
                kind: DriftKind = "added" if path not in rendered else "deleted" if path not in on_disk else "changed"
                try:
                    status = (folder / path).lstat() if path in on_disk else None
                except FileNotFoundError:
                    status = None
                if status is None:
                    found.append(Drift(service, path, kind, None, None, None))
                    continue
                changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
                found.append(Drift(service, path, kind, changed_at, status.st_uid, on_disk.get(path)))
    return found


def read_files(paths: InstancePaths, drift: Sequence[Drift]) -> dict[str, dict[str, str]]:
    """The texts of changed and added files, by service and path. Those that are not UTF-8, and symbolic links, are left
    out.
    """
    texts: dict[str, dict[str, str]] = {}
    for each in drift:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = _read_file(_folder_in_use(paths, each.service), each.path).decode()
            texts.setdefault(each.service, {})[each.path] = text
    return texts


def show_file(paths: InstancePaths, service: str, path: str) -> str:
    """The text of a file in use, to be shown; of a symbolic link its target's name. Empty if it can't be read."""
    folder = _folder_in_use(paths, service)
    try:
        return _read_file(folder, path).decode(errors="replace")
    except OSError:
        pass
    try:
        return _describe_link(folder / path)
    except OSError:
        return ""


def read_original(paths: InstancePaths, n: int, service: str, path: str) -> str | None:
    """A file of a generation as it was rendered; None if it was not."""
    try:
        return _read_file(folder_of(paths, n), f"{_RENDERED}/{service}/{path}").decode()
    except OSError:
        return None


def _folder_in_use(paths: InstancePaths, service: str) -> Path:
    n = find_linked(paths, service)
    return paths.conf(service) if n is None else folder_of(paths, n) / service


def _hash_folder(folder: Path) -> dict[str, str]:
    """The SHA-256 of the files below a folder, and of the descriptions of symbolic links, which are not followed."""
    if folder.is_symlink():
        return {}
    hashes: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        for path in (Path(place) / name for name in (*folders, *names)):
            name = str(path.relative_to(folder))
            if path.is_symlink():
                content = _describe_link(path).encode()
            elif path.suffix in GENERATED or not path.is_file():
                continue
            else:
                content = _read_file(folder, name)
            hashes[name] = hashlib.sha256(content).hexdigest()
    return hashes


def _describe_link(path: Path) -> str:
    """OSError if the path is no symbolic link."""
    return f"symbolic link to {path.readlink()}\n"


def _read_file(folder: Path, path: str) -> bytes:
    """A regular file below the folder. OSError for others, and if folder or a part of the path is a symbolic link."""
    *parents, name = Path(path).parts
    with contextlib.ExitStack() as stack:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        stack.callback(os.close, opened)
        for parent in parents:
            opened = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=opened)
            stack.callback(os.close, opened)
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=opened)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{path} is no regular file")
            return file.read()


def _write_files(folder: Path, files: Files, group: str) -> None:
    folder.mkdir(mode=0o750)
    if not files:
        return  # of a service that is off, and may not be installed
    gid = grp.getgrnam(group).gr_gid
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(mode=0o750, exist_ok=True)
        write_atomically(path, text, 0o750 if text.startswith("#!") else 0o640)
        # Postfix's processes wait until a file that has just changed is a second old.
        written_at = path.stat().st_mtime
        os.utime(path, (written_at, written_at - _FILE_AGE))
        os.chown(path, -1, gid)
        os.chown(path.parent, -1, gid)
    os.chown(folder, -1, gid)


def set_groups(paths: InstancePaths) -> None:
    """Let the daemons read the generations, all of whose files belong to root after a restore."""
    folder = paths.generations
    for generation in folder.iterdir() if folder.is_dir() else ():
        generation.chmod(0o755)
        for service, group in _GROUPS.items():
            root = generation / service
            with contextlib.suppress(KeyError):  # of a service that is not installed here
                for path in (root, *root.rglob("*")) if root.is_dir() else ():
                    os.chown(path, -1, grp.getgrnam(group).gr_gid)
                    if path.is_dir():
                        path.chmod(0o750)


def sync(path: Path) -> None:
    """Make a file, or the names in a folder, durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
