"""The certificate of the embedded listener: made once, replaced when it has expired, and the operator's wins."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from mailkeep.core.clock import utc_now
from mailkeep.run.runtime.listener_certificate import ListenerCertificate
from mailkeep.settings import Settings
from tests.run.runtime.test_certificate import pair_of, put


def served(found: ListenerCertificate) -> str:
    """The certificate that a client gets in a handshake, in PEM."""

    async def handshake() -> bytes:
        server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=found.context())
        port = server.sockets[0].getsockname()[1]
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
        found_der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        server.close()
        return found_der

    return ssl.DER_cert_to_PEM_cert(asyncio.run(handshake()))


def test_a_self_signed_certificate_is_kept_and_replaced_when_it_has_expired(tmp_path: Path) -> None:
    now = utc_now()
    settings = Settings()
    first = ListenerCertificate(settings, tmp_path, lambda: now)
    at_first = served(first)
    assert served(ListenerCertificate(settings, tmp_path, lambda: now)) == at_first
    assert (tmp_path / "tls" / "self-signed.pem").stat().st_mode & 0o777 == 0o600
    now += timedelta(days=3651)
    assert served(first) != at_first


def test_the_configured_certificate_wins_and_its_renewal_is_served(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    pair = pair_of("mx.example.test")
    put(certificate, pair.certificate)
    put(key, pair.key)
    settings = Settings()
    settings = replace(settings, tls=replace(settings.tls, certificate_file=str(certificate), key_file=str(key)))
    found = ListenerCertificate(settings, tmp_path, utc_now)
    assert served(found).split() == pair.certificate.decode().split()
    renewed = pair_of("mx.example.test")
    put(certificate, renewed.certificate)
    put(key, renewed.key)
    assert asyncio.run(found.renewal.renew_if_changed(utc_now()))
    assert served(found).split() == renewed.certificate.decode().split()
