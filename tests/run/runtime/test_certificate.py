"""The certificate: a renewed pair is served next, and an invalid one is refused."""

from __future__ import annotations

import asyncio
import itertools
import os
import ssl
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from mailkeep.core.clock import utc_now
from mailkeep.core.errors import Failure
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.run.cli import doctor_mail
from mailkeep.run.runtime import certificate
from mailkeep.run.runtime.certificate import KeyPair, Renewal
from mailkeep.run.runtime.certificate_files import CertificateFiles
from mailkeep.run.runtime.finding import Level
from mailkeep.settings import Settings, load_settings
from mailkeep.settings.edge import EdgeSettings
from mailkeep.settings.server import ServerSettings
from mailkeep.settings.tree import HttpSettings
from tests.support.client import Api

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def pair(
    begins: timedelta = -timedelta(days=1), ends: timedelta = timedelta(days=90), password: bytes = b""
) -> KeyPair:
    return pair_of("mx.example.test", NOW + begins, NOW + ends, password)


def pair_of(
    hostname: str, begins: datetime | None = None, ends: datetime | None = None, password: bytes = b""
) -> KeyPair:
    """A certificate of its own; without times one that is valid now."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hostname)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begins or utc_now() - timedelta(days=1))
        .not_valid_after(ends or utc_now() + timedelta(days=90))
        .sign(private, SHA256())
    )
    secret = BestAvailableEncryption(password) if password else NoEncryption()
    return KeyPair(made.public_bytes(Encoding.PEM), private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret))


_LATER = itertools.count(1)


def put(path: Path, content: bytes) -> None:
    """Write a file with a new modification time: the kernel's clock is too coarse."""
    path.write_bytes(content)
    at = next(_LATER)
    os.utime(path, (at, at))


def write(folder: Path, new_pair: KeyPair) -> None:
    put(folder / "their.pem", new_pair.certificate)
    put(folder / "their.key", new_pair.key)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    environ = {
        "MAILKEEP_TLS__CERTIFICATE_FILE": str(tmp_path / "their.pem"),
        "MAILKEEP_TLS__KEY_FILE": str(tmp_path / "their.key"),
    }
    return load_settings(tmp_path, environ).settings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tls"
    made.mkdir()
    return made


def served(folder: Path) -> KeyPair:
    content = (folder / "served.pem").read_bytes()
    key, end, certificates = content.partition(b"-----END PRIVATE KEY-----\n")
    return KeyPair(certificates, key + end)


class Reloads:
    """Counts reloads of the daemons."""

    count = 0

    async def __call__(self) -> None:
        self.count += 1


def test_without_settings_a_self_signed_certificate_is_kept(folder: Path, tmp_path: Path):
    none = load_settings(tmp_path, {}).settings
    assert certificate.install(none, folder, "mx.example.test", NOW) == str(folder / "served.pem")
    first = served(folder)
    begins, ends = certificate.find_validity(first)
    assert begins < NOW < NOW + timedelta(days=3000) < ends
    written = (folder / "served.pem").stat().st_ino
    certificate.install(none, folder, "mx.example.test", NOW)
    assert (served(folder), (folder / "served.pem").stat().st_ino) == (first, written)
    certificate.install(none, folder, "other.example.test", NOW)
    assert served(folder) != first


def test_only_root_can_read_the_key(folder: Path, settings: Settings, tmp_path: Path):
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    assert (folder / "served.pem").stat().st_mode & 0o777 == 0o600


async def test_a_renewed_certificate_is_served_and_daemons_reload(folder: Path, settings: Settings, tmp_path: Path):
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    reloads = Reloads()
    renewal = Renewal(settings, folder, reloads)
    assert not await renewal.renew_if_changed(NOW)
    assert not await renewal.renew_if_changed(NOW, force=True)
    renewed = pair()
    write(tmp_path, renewed)
    assert await renewal.renew_if_changed(NOW)
    assert served(folder) == renewed
    assert reloads.count == 1
    assert not await renewal.renew_if_changed(NOW)


async def test_no_process_reads_a_certificate_with_the_key_of_another(folder: Path, settings: Settings, tmp_path: Path):
    """OpenSSL reads key and certificates of a file that is opened once, as Postfix does."""
    write(tmp_path, pair())
    path = certificate.install(settings, folder, "mx.example.test", NOW)
    renewal = Renewal(settings, folder, Reloads())
    over = False

    def read_often() -> int:
        loads = 0
        while not over:
            with Path(path).open("rb") as file:  # a descriptor keeps the file that it was opened for
                ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(f"/dev/fd/{file.fileno()}")
            loads += 1
        return loads

    reader = asyncio.create_task(asyncio.to_thread(read_often))
    try:
        for _ in range(100):
            write(tmp_path, pair())
            assert await renewal.renew_if_changed(NOW)
            await asyncio.sleep(0.001)
    finally:
        over = True
    assert await reader


async def test_a_certificate_that_comes_before_its_key_waits_for_it(folder: Path, settings: Settings, tmp_path: Path):
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    reloads = Reloads()
    renewal = Renewal(settings, folder, reloads)
    before, renewed = served(folder), pair()
    put(tmp_path / "their.pem", renewed.certificate)
    assert not await renewal.renew_if_changed(NOW)
    assert served(folder) == before
    put(tmp_path / "their.key", renewed.key)
    assert await renewal.renew_if_changed(NOW)
    assert served(folder) == renewed


OTHER = rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.mark.parametrize(
    "bad, why",
    [
        pytest.param(KeyPair(pair().certificate, pair().key), "not the key", id="another's key"),
        pytest.param(KeyPair(pair().certificate, OTHER), "not the key", id="a key of another kind"),
        pytest.param(KeyPair(b"", pair().key), "no certificate", id="an empty file"),
        pytest.param(KeyPair(b"-----BEGIN CERTIFICATE-----\nAAAA\n", pair().key), "no certificate", id="incomplete"),
        pytest.param(KeyPair(pair().certificate, b"\xff\xfe"), "no private key", id="no key"),
        pytest.param(pair(password=b"secret"), "no private key", id="a key with a password"),
        pytest.param(pair(ends=-timedelta(hours=1)), "valid from", id="expired"),
        pytest.param(pair(begins=timedelta(hours=1)), "valid from", id="not yet valid"),
        pytest.param(None, "can't be read", id="no file"),
    ],
)
async def test_an_invalid_renewal_is_refused_and_the_old_pair_stays(
    bad: KeyPair | None, why: str, folder: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    before, reloads = served(folder), Reloads()
    renewal = Renewal(settings, folder, reloads)
    if bad is None:
        (tmp_path / "their.key").unlink()
    else:
        write(tmp_path, bad)
    reasons: list[str] = []
    monkeypatch.setattr(certificate.log, "error", lambda _, reason: reasons.append(reason))
    assert not await renewal.renew_if_changed(NOW)
    assert served(folder) == before
    assert reloads.count == 0
    (reason,) = reasons
    assert why in reason


def test_a_mismatched_pair_fails_the_start(folder: Path, settings: Settings, tmp_path: Path):
    write(tmp_path, KeyPair(pair().certificate, pair().key))
    with pytest.raises(Failure, match=r"tls\.key_file is not the key of tls\.certificate_file"):
        certificate.install(settings, folder, "mx.example.test", NOW)
    (tmp_path / "their.pem").unlink()
    with pytest.raises(Failure, match="can't be read: No such file"):
        certificate.install(settings, folder, "mx.example.test", NOW)


def test_an_expired_certificate_is_served_at_the_start(folder: Path, settings: Settings, tmp_path: Path):
    over = pair(ends=-timedelta(hours=1))
    write(tmp_path, over)
    certificate.install(settings, folder, "mx.example.test", NOW)
    assert served(folder) == over


async def test_files_are_checked_periodically_and_on_request(
    folder: Path, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(certificate, "utc_now", lambda: NOW)
    write(tmp_path, pair())
    certificate.install(settings, folder, "mx.example.test", NOW)
    reloads, asked = Reloads(), asyncio.Event()

    async def reloaded(times: int) -> None:
        deadline = time.monotonic() + 60
        while reloads.count < times:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)

    work = asyncio.create_task(Renewal(settings, folder, reloads).keep_renewing(asked))
    await asyncio.sleep(0.05)
    write(tmp_path, pair())
    asked.set()
    await reloaded(1)
    monkeypatch.setattr(certificate, "_CHECK_SECONDS", 0.01)
    write(tmp_path, pair())
    asked.set()
    await reloaded(2)
    write(tmp_path, pair())
    await reloaded(3)
    work.cancel()


def test_doctor_names_what_browsers_will_not_accept(tmp_path: Path):
    tls = tmp_path / "tls"
    tls.mkdir()
    paths = InstancePaths(tmp_path, tmp_path)
    certificate.install(Settings(), tls, "mx.example.test", utc_now())

    def check(public_url: str, *, enabled: bool = True) -> list[tuple[Level, str]]:
        edge, server = EdgeSettings(enabled=enabled), ServerSettings(hostname="mx.example.test")
        settings = Settings(edge=edge, server=server, http=HttpSettings(public_url=public_url))
        return [(each.level, each.message) for each in doctor_mail._check_edge(settings, paths)]

    assert check("http://localhost:8080", enabled=False) == []
    ((level, message),) = check("http://localhost:8080")
    assert (level, "nginx serves https://mx.example.test." in message) == (Level.WARNING, True)
    assert check("https://mail.example.test") == [(Level.WARNING, "The certificate is not for mail.example.test.")]
    ((level, _),) = check("https://mx.example.test")
    assert level is Level.OK


async def test_an_administrators_expired_pair_does_not_replace_the_served_one(
    api: Api, folder: Path, settings: Settings, tmp_path: Path
):
    """Neither `Renewal`, nor the process that writes certificates from ACME, which looks every ten seconds."""
    current = pair()
    write(tmp_path, current)
    certificate.install(settings, folder, "mx.example.test", NOW)
    api.app.settings = settings
    files = CertificateFiles(api.app, InstancePaths(folder.parent, tmp_path), Reloads())
    write(tmp_path, pair(-timedelta(days=9), -timedelta(days=1)))
    await files.sync()
    assert served(folder) == current
