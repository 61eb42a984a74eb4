"""The wheel of another version: copied to where only this account can write, verified, and read without running any
of its code.

A wheel (https://packaging.python.org/specifications/binary-distribution-format) is a zip file, whose RECORD has the
SHA-256 of each file. Ours contains only the package and its metadata, and the versions and hashes of all that it needs
(`requirements.lock`): no scripts, no `.pth` file, no link.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Mapping
from configparser import ConfigParser, Error as ConfigError
from dataclasses import dataclass, replace
from email.parser import HeaderParser
from pathlib import Path

from mailkeep import __version__
from mailkeep.core.errors import Failure
from mailkeep.db.additive import find_oldest_program, list_obstacles, works_with

LOCK = "mailkeep/requirements.lock"
"""The file with the requirements of a wheel."""
_MAX_BYTES, _MAX_UNPACKED_BYTES, _MAX_FILES = 200_000_000, 1_000_000_000, 20_000
_CHUNK = 1 << 20
_VERSION = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6}){1,3}")
_PYTHON = re.compile(r">=\s*([0-9]{1,3})\.([0-9]{1,3})")
_ENTRY_POINTS = {"mailkeep": "mailkeep.run.cli.main:main"}
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, struct.error, lzma.LZMAError)
_TAG, _MIGRATIONS, _FUNCTIONS = "py3-none-any", "mailkeep/db/migrations/", "mailkeep/db/functions/"


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel that was verified. `sha256` is that of the file; `migrations` are the texts by name; `requirements` the
    number of packages that it needs; `unpacked_bytes` what its files take.
    """

    path: Path
    sha256: str
    version: str
    min_python: tuple[int, int]
    migrations: Mapping[str, str]
    functions: Mapping[str, str]
    requirements: int
    unpacked_bytes: int


def parse_version(text: str) -> tuple[int, ...]:
    """The numbers of a version; Failure if it is no released one (`1.2.3`)."""
    if not _VERSION.fullmatch(text):
        raise Failure(f"{text[:40]!r} is not a version of the form 1.2.3.", permanent=True)
    numbers = [int(number) for number in text.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def copy(source: Path, target: Path) -> str:
    """Copy the file that an administrator named to `target`, which must not exist, and return the SHA-256 of the copy.

    Whoever can write to the source can change it at any time: only the copy is read afterwards.
    """
    digest, size = hashlib.sha256(), 0
    descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Failure(f"{source} is not a file.", permanent=True)
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as copied:
            while chunk := file.read(_CHUNK):
                size += len(chunk)
                if size > _MAX_BYTES:
                    raise Failure(f"{source} has more than {_MAX_BYTES // 10**6} MB: no wheel.", permanent=True)
                digest.update(chunk)
                copied.write(chunk)
    return digest.hexdigest()


def read(path: Path, sha256: str) -> Wheel:
    """Verify a copy and read what the upgrade needs to know. Failure, permanent, that says what is wrong."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, path, sha256)
    except (UnicodeDecodeError, ConfigError, KeyError, csv.Error) as error:
        raise _wrong(f"its metadata can't be read ({error})") from error
    except _DAMAGE as error:
        raise _wrong(f"it is not a zip file that can be read ({error})") from error


def _read(archive: zipfile.ZipFile, path: Path, sha256: str) -> Wheel:
    entries = archive.infolist()
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > _MAX_FILES or unpacked > _MAX_UNPACKED_BYTES:
        raise _wrong("it is larger than any Mailkeep")
    info = _check_names(entries)
    _check_record(archive, entries, f"{info}/RECORD")

    def text(name: str) -> str:
        return archive.read(name).decode()

    metadata = HeaderParser().parsestr(text(f"{info}/METADATA"))
    version = metadata["Version"] or ""
    if metadata["Name"] != "mailkeep" or info != f"mailkeep-{version}.dist-info":
        raise _wrong(f"it is {metadata['Name']} {version}, not Mailkeep")
    parse_version(version)
    wheel = HeaderParser().parsestr(text(f"{info}/WHEEL"))
    if wheel["Root-Is-Purelib"] != "true" or wheel.get_all("Tag") != [_TAG]:
        raise _wrong(f"it is not for all machines ({_TAG})")
    points = ConfigParser(delimiters="=", interpolation=None)
    points.read_string(text(f"{info}/entry_points.txt"))
    if points.sections() != ["console_scripts"] or dict(points["console_scripts"]) != _ENTRY_POINTS:
        raise _wrong("its entry points are not those of Mailkeep")
    if LOCK not in archive.namelist():
        raise _wrong(f"it does not contain {LOCK}, the versions and hashes of what it needs")
    return Wheel(
        path=path,
        sha256=sha256,
        version=version,
        min_python=_read_min_python(metadata["Requires-Python"] or ""),
        migrations=_read_folder(archive, _MIGRATIONS),
        functions=_read_folder(archive, _FUNCTIONS),
        requirements=sum("==" in line for line in text(LOCK).splitlines()),
        unpacked_bytes=unpacked,
    )


def _check_names(entries: list[zipfile.ZipInfo]) -> str:
    """Check that all files are in the package or its metadata; returns the name of the folder with the latter."""
    folders = {entry.filename.split("/")[0] for entry in entries}
    infos = [folder for folder in folders if folder.endswith(".dist-info")]
    if len(infos) != 1 or folders != {"mailkeep", infos[0]}:
        raise _wrong("it contains more, or less, than the package mailkeep and its metadata")
    seen: set[str] = set()
    for entry in entries:
        name, kind = entry.filename, stat.S_IFMT(entry.external_attr >> 16)
        if (
            name in seen
            or "\\" in name
            or any(part in ("", ".", "..") for part in name.split("/"))
            or kind not in (0, stat.S_IFREG)
        ):
            raise _wrong(f"{name[:100]!r} in it is not a plain file, or is there twice")
        seen.add(name)
    return infos[0]


def _check_record(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo], record: str) -> None:
    rows = {row[0]: row[1] for row in csv.reader(archive.read(record).decode().splitlines()) if len(row) == 3}
    names = {entry.filename for entry in entries} - {record}
    if rows.keys() - {record} != names:
        raise _wrong("its list of files (RECORD) does not name exactly the files in it")
    for name in names:
        digest = hashlib.sha256()
        with archive.open(name) as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        expected = "sha256=" + base64.urlsafe_b64encode(digest.digest()).decode().rstrip("=")
        if rows[name] != expected:
            raise _wrong(f"{name} in it does not have the hash of its list of files (RECORD): it was changed")


def _read_folder(archive: zipfile.ZipFile, folder: str) -> dict[str, str]:
    names = sorted(name for name in archive.namelist() if name.startswith(folder) and name.endswith(".sql"))
    return {name.removeprefix(folder): archive.read(name).decode() for name in names}


def _read_min_python(text: str) -> tuple[int, int]:
    match = _PYTHON.fullmatch(text)
    if not match:
        raise _wrong(f"the Python that it requires can't be read ({text[:40]!r})")
    return int(match[1]), int(match[2])


def _wrong(why: str) -> Failure:
    return Failure(f"This wheel is refused: {why}.", permanent=True)


def rename(wheel: Wheel) -> Wheel:
    """Give a copy the name that pip needs."""
    return replace(wheel, path=wheel.path.rename(wheel.path.with_name(f"mailkeep-{wheel.version}-{_TAG}.whl")))


def list_new_migrations(wheel: Wheel, own: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The migrations that the wheel adds to `own`, and the statements because of which this version could not run after
    them (empty: it can). Failure if it lacks or changes one of `own`.
    """
    for name, text in own.items():
        if wheel.migrations.get(name) != text:
            raise _wrong(f"its migration {name} is not that of this version: a database can't be upgraded with it")
    new = [name for name in wheel.migrations if name not in own]
    needed = [name for name in new if not works_with(find_oldest_program(wheel.migrations[name]), __version__)]
    return new, [f"{name}: {statement}" for name in needed for statement in list_obstacles(wheel.migrations[name])]


def verify_signature(wheel: Path, signature: Path, key_file: Path) -> None:
    """Verify an Ed25519 signature of the file (as `openssl pkeyutl -sign -rawin` makes one). Failure, permanent."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    try:
        key = load_pem_public_key(key_file.read_bytes())
    except OSError as error:
        raise Failure(f"{key_file} can't be read: {error.strerror}.", permanent=True) from error
    except ValueError as error:
        raise Failure(f"{key_file} is not a public key in PEM: {error}", permanent=True) from error
    if not isinstance(key, Ed25519PublicKey):
        raise Failure(f"{key_file} is not an Ed25519 key.", permanent=True)
    if not signature.is_file():
        raise Failure(f"{key_file} requires a signature, and there is no {signature}.", permanent=True)
    try:
        key.verify(signature.read_bytes()[:_CHUNK], wheel.read_bytes())
    except InvalidSignature:
        raise _wrong(f"{signature} is not a signature of it by {key_file}") from None
