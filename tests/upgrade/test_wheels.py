"""Wheels that are refused, before any of their code runs."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from mailkeep import __version__
from mailkeep.core.errors import Failure
from mailkeep.run.runtime import upgrade_wheel
from tests.upgrade.installation import write_wheel

INFO = "mailkeep-1.2.0.dist-info"
FILES = {
    "mailkeep/__init__.py": b"raise SystemExit('executed')",
    "mailkeep/requirements.lock": b"aiohttp==3 --hash=sha256:00\nidna==3 --hash=sha256:00\n",
    "mailkeep/db/migrations/0001_a.sql": b"CREATE TABLE a (n int)",
    "mailkeep/db/migrations/0002_b.sql": b"DROP TABLE a",
    f"{INFO}/METADATA": b"Metadata-Version: 2.4\nName: mailkeep\nVersion: 1.2.0\nRequires-Python: >=3.11\n",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/entry_points.txt": b"[console_scripts]\nmailkeep = mailkeep.run.cli.main:main\n",
}


def make(path: Path, **changes: bytes | None) -> Path:
    """A wheel, with files replaced, added or left out (None)."""
    files = {name: content for name, content in (FILES | changes).items() if content is not None}
    return write_wheel(path / "w.whl", files, INFO)


def read(path: Path) -> upgrade_wheel.Wheel:
    return upgrade_wheel.read(path, "")


def test_what_is_read(tmp_path: Path) -> None:
    wheel = read(make(tmp_path))
    assert (wheel.version, wheel.min_python, wheel.requirements) == ("1.2.0", (3, 11), 2)
    assert list(wheel.migrations) == ["0001_a.sql", "0002_b.sql"]


@pytest.mark.parametrize(
    "name,content,words",
    [
        ("evil.pth", b"import os", "more, or less"),
        ("mailkeep-1.2.0.data/scripts/sudo", b"", "more, or less"),
        ("other/__init__.py", b"", "more, or less"),
        ("mailkeep/../../etc/passwd", b"", "not a plain file"),
        ("mailkeep//x", b"", "not a plain file"),
        ("mailkeep\\x", b"", "more, or less"),
        ("mailkeep/a\\b", b"", "not a plain file"),
        ("/mailkeep/x", b"", "more, or less"),
        ("mailkeep/requirements.lock", None, "does not contain"),
        (f"{INFO}/METADATA", None, "metadata can't be read"),
        (f"{INFO}/METADATA", b"Name: other\nVersion: 1.2.0\n", "not Mailkeep"),
        (f"{INFO}/METADATA", b"Name: mailkeep\nVersion: 1.3.0\n", "not Mailkeep"),
        (f"{INFO}/METADATA", b"Name: mailkeep\nVersion: 1.2.0\n", "Python that it requires"),
        (f"{INFO}/METADATA", b"Name: mailkeep\nVersion: 1.2.0\nRequires-Python: ~=3.11\n", "Python that it requires"),
        (f"{INFO}/METADATA", b"\xff", "metadata can't be read"),
        (f"{INFO}/WHEEL", b"Root-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n", "not for all machines"),
        (f"{INFO}/entry_points.txt", b"[console_scripts]\nmailkeep = os:abort\n", "entry points"),
        (f"{INFO}/entry_points.txt", b"[x]\n[x]\n", "metadata can't be read"),
    ],
)
def test_a_wheel_of_another_form_is_refused(tmp_path: Path, name: str, content: bytes | None, words: str) -> None:
    path = make(tmp_path, **{name: content})
    with pytest.raises(Failure, match=words) as wrong:
        read(path)
    assert wrong.value.permanent


def _rewrite(path: Path, change: Callable[[zipfile.ZipFile], None]) -> Path:
    with zipfile.ZipFile(path, "a") as archive:
        change(archive)
    return path


def _add_link(archive: zipfile.ZipFile) -> None:
    info = zipfile.ZipInfo("mailkeep/link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(info, "/etc/shadow")


def test_a_file_that_is_not_listed_twice_or_a_link_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="does not name exactly"):
        read(_rewrite(make(tmp_path), lambda archive: archive.writestr("mailkeep/x.py", "")))
    with pytest.raises(Failure, match="not a plain file"):
        read(_rewrite(make(tmp_path), _add_link))
    with pytest.warns(UserWarning, match="Duplicate"):
        path = _rewrite(make(tmp_path), lambda archive: archive.writestr("mailkeep/__init__.py", "evil"))
    with pytest.raises(Failure, match="there twice"):
        read(path)


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content + b"#" if name == "mailkeep/__init__.py" else content)
    with pytest.raises(Failure, match=r"mailkeep/__init__\.py in it does not have the hash"):
        read(path)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    content = make(tmp_path).read_bytes()
    path = tmp_path / "damaged.whl"
    for damaged in (b"", b"PK\3\4", content[:-30], content[: len(content) // 2], b"x" * 1000):
        path.write_bytes(damaged)
        with pytest.raises(Failure, match="not a zip file"):
            read(path)
    for at in range(0, len(content), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 0x55]) + content[at + 1 :])
        try:
            read(path)
        except Failure:
            pass


def test_the_copy_is_what_is_read(tmp_path: Path) -> None:
    source, copied = make(tmp_path), tmp_path / "copy"
    digest = upgrade_wheel.copy(source, copied)
    source.write_bytes(b"something else")
    assert stat.S_IMODE(copied.stat().st_mode) == 0o600
    assert upgrade_wheel.read(copied, digest).version == "1.2.0"
    with pytest.raises(FileExistsError):
        upgrade_wheel.copy(source, copied)
    with pytest.raises(Failure, match="is not a file"):
        upgrade_wheel.copy(Path("/dev/zero"), tmp_path / "zero")


def test_migrations_are_compared_with_those_of_this_version(tmp_path: Path) -> None:
    wheel = read(make(tmp_path))
    own = {"0001_a.sql": "CREATE TABLE a (n int)"}
    assert upgrade_wheel.list_new_migrations(wheel, own) == (["0002_b.sql"], ["0002_b.sql: drop table a"])
    wheel = read(
        make(tmp_path, **{"mailkeep/db/migrations/0002_b.sql": f"-- works with {__version__}\nDROP TABLE a".encode()})
    )
    assert upgrade_wheel.list_new_migrations(wheel, own) == (["0002_b.sql"], [])
    for other in ({"0001_a.sql": "CREATE TABLE b ()"}, {"0003_c.sql": ""}):
        with pytest.raises(Failure, match="is not that of this version"):
            upgrade_wheel.list_new_migrations(wheel, other)


def test_versions_have_an_order() -> None:
    texts = ["0.9", "0.10", "0.10.1", "1.0", "1.0.1", "2"]
    numbers = [upgrade_wheel.parse_version(text) for text in texts[:-1]]
    assert numbers == sorted(numbers)
    assert upgrade_wheel.parse_version("1.0.0") == upgrade_wheel.parse_version("1.0")
    for text in ("2", "1.0rc1", "1.0.dev1", "../1.0", "1.0\n", "١.٢", ""):
        with pytest.raises(Failure, match="is not a version"):
            upgrade_wheel.parse_version(text)


def test_a_release_key_requires_a_signature(tmp_path: Path) -> None:
    wheel, key = make(tmp_path), Ed25519PrivateKey.generate()
    public, signature = tmp_path / "release-key.pem", tmp_path / "w.whl.sig"
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    with pytest.raises(Failure, match="there is no"):
        upgrade_wheel.verify_signature(wheel, signature, public)
    signature.write_bytes(key.sign(wheel.read_bytes()))
    upgrade_wheel.verify_signature(wheel, signature, public)
    for wrong in (b"", key.sign(b"another"), Ed25519PrivateKey.generate().sign(wheel.read_bytes())):
        signature.write_bytes(wrong)
        with pytest.raises(Failure, match="is not a signature"):
            upgrade_wheel.verify_signature(wheel, signature, public)
    public.write_text("no key")
    with pytest.raises(Failure, match="is not a public key"):
        upgrade_wheel.verify_signature(wheel, signature, public)
    public.unlink()
    public.symlink_to("nowhere")
    with pytest.raises(Failure, match="can't be read"):
        upgrade_wheel.verify_signature(wheel, signature, public)
