"""The documents for mail programs: valid by their schemas, safe against what others write in them, signed."""

from __future__ import annotations

import plistlib
import ssl
import subprocess
from pathlib import Path
from typing import Any

import pytest
import trustme
import xmlschema
from defusedxml.ElementTree import fromstring
from hypothesis import given, strategies as st

from mailkeep.core.errors import Failure
from mailkeep.mail.client_setup import apple, autoconfig, autodiscover
from mailkeep.mail.client_setup.services import MailService
from tests.support.autodiscover import OUTLOOK, outlook_request

HERE = Path(__file__).parent
RESPONSE = f"{{{OUTLOOK}responseschema/2006a}}"
SERVICES = [
    MailService("imap", "mx.example.test", 993, "tls"),
    MailService("imap", "mx.example.test", 143, "starttls"),
    MailService("smtp", "mx.example.test", 465, "tls"),
    MailService("smtp", "mx.example.test", 587, "starttls"),
    MailService("pop3", "mx.example.test", 995, "tls"),
    MailService("sieve", "mx.example.test", 4190, "starttls"),
]


def validate(schema: str, element: Any) -> None:
    xmlschema.XMLSchema(str(HERE / schema)).validate(element)


def account_of(document: bytes) -> Any:
    response = fromstring(document).find(f"{RESPONSE}Response")
    validate("autodiscover.xsd", response)
    assert response is not None
    return response.find(f"{RESPONSE}Account")


def test_autoconfig_is_valid_and_lists_the_preferred_servers_first():
    root = fromstring(autoconfig.compose("example.test", "example.test", SERVICES))
    validate("autoconfig.xsd", root)
    servers = [(each.get("type"), each.findtext("port"), each.findtext("socketType")) for each in root.iter()]
    assert [each for each in servers if each[0]] == [
        ("imap", "993", "SSL"),
        ("imap", "143", "STARTTLS"),
        ("pop3", "995", "SSL"),
        ("smtp", "465", "SSL"),
        ("smtp", "587", "STARTTLS"),
    ]
    assert {each.text for each in root.iter("username")} == {"%EMAILADDRESS%"}


def test_users_of_an_alias_domain_sign_in_with_the_target():
    root = fromstring(autoconfig.compose("example.net", "example.test", SERVICES))
    validate("autoconfig.xsd", root)
    assert {each.text for each in root.iter("username")} == {"%EMAILLOCALPART%@example.test"}


def test_the_schema_refuses_what_is_no_autoconfig_document():
    wrong = autoconfig.compose("example.test", "example.test", [MailService("imap", "mx", 0, "tls"), *SERVICES])
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        validate("autoconfig.xsd", fromstring(wrong))


@pytest.mark.parametrize("address", ["alice@example.test", "<a>&'\"@example.test"])
def test_autodiscover_answers_the_preferred_service_of_each_protocol(address: str):
    account = account_of(autodiscover.compose(address, address, SERVICES))
    names = ("Type", "Server", "Port", "LoginName", "Encryption")
    found = [[each.findtext(f"{RESPONSE}{name}") for name in names] for each in account.iter(f"{RESPONSE}Protocol")]
    assert found == [
        ["IMAP", "mx.example.test", "993", address, "SSL"],
        ["POP3", "mx.example.test", "995", address, "SSL"],
        ["SMTP", "mx.example.test", "465", address, "SSL"],
    ]


def test_a_request_for_another_schema_gets_the_protocols_error():
    mobile = "http://schemas.microsoft.com/exchange/autodiscover/mobilesync/"
    for request in (
        outlook_request(response=f"{mobile}responseschema/2006"),
        outlook_request().replace(b"outlook/requestschema", b"mobilesync/requestschema"),
    ):
        with pytest.raises(autodiscover.UnknownSchemaError):
            autodiscover.parse_request(request)
    error = fromstring(autodiscover.compose_unknown_schema("12:00:00"))
    assert [each.text for each in error.iter() if each.tag.endswith("ErrorCode")] == ["601"]


ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
EXTERNAL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00",
        b"EMailAddress=alice@example.test",
        b"<a/>",
        b'<?xml version="1.0" encoding="no-such"?><a/>',
        b"<a>" * 5000,
        outlook_request(start=ENTITIES),
        outlook_request("&b;", start=ENTITIES),
        outlook_request("&a;", start=EXTERNAL),
        outlook_request(""),
        outlook_request("alice"),
        outlook_request("a" * 400 + "@example.test"),
    ],
)
def test_a_request_that_is_none_is_refused(body: bytes):
    with pytest.raises(autodiscover.RequestError):
        autodiscover.parse_request(body)


def test_the_address_is_read_without_the_space_around_it():
    assert autodiscover.parse_request(outlook_request("\n alice@example.test ")) == "alice@example.test"


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(outlook_request)))
def test_any_body_is_an_address_or_a_refusal(body: bytes):
    try:
        assert "@" in autodiscover.parse_request(body)
    except autodiscover.RequestError:
        pass


class TestProfile:
    def make_pem(self) -> tuple[bytes, trustme.CA]:
        authority = trustme.CA()
        issued = authority.issue_cert("mx.example.test")
        chain = b"".join(each.bytes() for each in issued.cert_chain_pems)
        return issued.private_key_pem.bytes() + chain, authority

    def make(self) -> apple.AppleProfile:
        profile = apple.make_profile("alice@example.test", SERVICES)
        assert profile
        return profile

    def test_the_signature_verifies_and_covers_the_profile(self, tmp_path: Path):
        pem, authority = self.make_pem()
        signed = tmp_path / "mail.mobileconfig"
        signed.write_bytes(apple.sign(self.make(), pem))
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        command = ["openssl", "cms", "-verify", "-inform", "DER", "-purpose", "any", "-CAfile", "ca.pem", "-in"]
        result = subprocess.run([*command, signed], cwd=tmp_path, capture_output=True, check=False, timeout=30)
        assert result.returncode == 0, result.stderr
        assert result.stdout == apple.compose(self.make())
        changed = signed.read_bytes().replace(b"mx.example.test", b"mx.examp1e.test", 1)
        signed.write_bytes(changed)
        result = subprocess.run([*command, signed], cwd=tmp_path, capture_output=True, check=False, timeout=30)
        assert result.returncode != 0

    def test_it_has_the_servers_and_no_password(self):
        profile = plistlib.loads(apple.compose(self.make()))
        [account] = profile["PayloadContent"]
        assert (profile["PayloadType"], account["PayloadType"]) == ("Configuration", "com.apple.mail.managed")
        assert (account["IncomingMailServerHostName"], account["IncomingMailServerPortNumber"]) == (
            "mx.example.test",
            993,
        )
        assert (account["OutgoingMailServerPortNumber"], account["OutgoingMailServerUseSSL"]) == (465, True)
        assert account["IncomingMailServerUsername"] == account["EmailAddress"] == "alice@example.test"
        assert not [name for name in account if name.endswith("Password") and account[name] is not True]
        assert profile["PayloadUUID"] != account["PayloadUUID"]
        assert plistlib.loads(apple.compose(self.make())) == profile  # a later profile replaces it

    def test_it_needs_a_service_to_read_and_one_to_send(self):
        assert apple.make_profile("a@example.test", [each for each in SERVICES if each.protocol == "imap"]) is None
        assert apple.make_profile("a@example.test", [each for each in SERVICES if each.protocol == "smtp"]) is None
        without_imap = apple.make_profile("a@example.test", [each for each in SERVICES if each.protocol != "imap"])
        assert without_imap
        [account] = plistlib.loads(apple.compose(without_imap))["PayloadContent"]
        assert account["EmailAccountType"] == "EmailTypePOP"

    def test_files_without_certificate_or_key_are_a_failure(self):
        authority = trustme.CA()
        for wrong in (b"", b"no certificate", authority.cert_pem.bytes(), ssl.DER_cert_to_PEM_cert(b"x").encode()):
            with pytest.raises(Failure):
                apple.sign(self.make(), wrong)
