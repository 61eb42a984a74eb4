"""The answers to mail programs about a domain, and the setup of a mailbox with its link."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring

from mailkeep.settings.tree import ServerSettings
from mailkeep.web.endpoint import XML
from tests.support.autodiscover import OUTLOOK, outlook_request
from tests.support.builders import require_app_passwords
from tests.support.caller import Answer, Caller
from tests.support.client import DOMAIN_IDS, EXAMPLE, OTHER, Api, Client, reason

ALICE = f"alice@{EXAMPLE}"
HOST = "mx.example.test"
XML_PATH = "/autodiscover/autodiscover.xml"


@pytest.fixture(autouse=True)
def named(api: Api) -> None:
    settings = api.app.settings
    api.app.settings = replace(settings, server=ServerSettings(hostname=HOST))


async def fetch(api: Api, target: str, host: str, body: bytes | None = None, method: str = "") -> Answer:
    headers = {"host": host} | ({} if body is None else {"content-type": XML[0]})
    pieces = () if body is None else [body]
    return await Caller(api.pipeline)(method or ("GET" if body is None else "POST"), target, headers, pieces)


def texts(document: bytes, name: str) -> list[str | None]:
    root: Element = fromstring(document)
    return [each.text for each in root.iter() if each.tag.rpartition("}")[2] == name]


class TestAutoconfig:
    @pytest.mark.parametrize(
        "target, host",
        [
            ("/mail/config-v1.1.xml", f"autoconfig.{EXAMPLE}"),
            ("/mail/config-v1.1.xml?emailaddress=alice%40elsewhere.test", f"AUTOCONFIG.{EXAMPLE.upper()}.:8080"),
            ("/.well-known/autoconfig/mail/config-v1.1.xml", EXAMPLE),
            (f"/mail/config-v1.1.xml?emailaddress=alice%40{EXAMPLE}&x=1", HOST),
        ],
    )
    async def test_the_host_decides_the_domain(self, api: Api, target: str, host: str):
        answer = await fetch(api, target, host)
        assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "text/xml")
        assert texts(answer.body, "domain") == [EXAMPLE]
        assert set(texts(answer.body, "hostname")) == {HOST}

    @pytest.mark.parametrize(
        "host", ["autoconfig.elsewhere.test", "elsewhere.test", HOST, "127.0.0.1", "[::1]:1", "x y"]
    )
    async def test_an_unknown_domain_is_not_found(self, api: Api, host: str):
        assert (await fetch(api, "/mail/config-v1.1.xml", host)).code == "NOT_FOUND"

    async def test_a_host_of_another_domain_is_no_way_to_ask_for_one(self, api: Api):
        target = f"/mail/config-v1.1.xml?emailaddress=alice%40{EXAMPLE}"
        assert (await fetch(api, target, "autoconfig.elsewhere.test")).code == "NOT_FOUND"

    async def test_disabled_ports_are_left_out(self, api: Api):
        settings = api.app.settings
        ports = replace(settings.ports, imap=0, pop3=0, pop3s=0, submission=0, imaps=1993)
        api.app.settings = replace(settings, ports=ports)
        answer = await fetch(api, "/mail/config-v1.1.xml", EXAMPLE)
        assert texts(answer.body, "port") == ["1993", "465"]


class TestAutodiscover:
    async def test_the_answer_is_the_same_for_every_local_part(self, api: Api):
        await api.mailbox(ALICE, imap=False)
        await api.mailbox(f"trashed@{EXAMPLE}", deleted_at=api.clock())
        answers: dict[str, bytes] = {}
        for local_part in ("alice", "trashed", "nobody"):
            address = f"{local_part}@{EXAMPLE}"
            answer = await fetch(api, XML_PATH, f"autodiscover.{EXAMPLE}", outlook_request(address))
            assert answer.status == 200
            answers[local_part] = answer.body.replace(local_part.encode(), b"?")
            unknown = await fetch(api, f"/autodiscover/autodiscover.json/v1.0/{address}", HOST)
            answers[f"{local_part} json"] = unknown.body
        assert len(set(answers.values())) == 2
        assert texts(answers["alice"], "Type") == ["IMAP", "POP3", "SMTP"]

    @pytest.mark.parametrize(
        "path", ["/autodiscover/autodiscover.xml", "/Autodiscover/Autodiscover.xml", "/AUTODISCOVER/AutoDiscover.XML"]
    )
    async def test_the_path_is_known_in_any_case(self, api: Api, path: str):
        assert (await fetch(api, path, HOST, outlook_request(ALICE))).status == 200
        assert (await fetch(api, path, HOST)).code == "METHOD_NOT_ALLOWED"

    async def test_users_of_an_alias_domain_get_the_login_of_the_target(self, api: Api):
        await api.domain("alias.test", alias_of=DOMAIN_IDS[EXAMPLE])
        answer = await fetch(api, XML_PATH, HOST, outlook_request("alice@alias.test"))
        assert set(texts(answer.body, "LoginName")) == {ALICE}
        answer = await fetch(api, "/mail/config-v1.1.xml", "autoconfig.alias.test")
        assert set(texts(answer.body, "username")) == {f"%EMAILLOCALPART%@{EXAMPLE}"}

    async def test_bad_requests_are_refused(self, api: Api):
        assert (await fetch(api, XML_PATH, HOST, outlook_request("alice@elsewhere.test"))).code == "NOT_FOUND"
        assert (await fetch(api, XML_PATH, HOST, b"<a/>")).code == "INVALID_FIELD"
        assert (await fetch(api, XML_PATH, HOST, b"")).code == "INVALID_FIELD"
        assert (await fetch(api, XML_PATH, HOST, b" " * ((16 << 10) + 1))).code == "PAYLOAD_TOO_LARGE"
        as_json = await Caller(api.pipeline).post(XML_PATH, {"EMailAddress": ALICE})
        assert as_json.code == "UNSUPPORTED_MEDIA_TYPE"
        mobile = outlook_request(ALICE, OUTLOOK.replace("outlook", "mobilesync") + "responseschema/2006")
        answer = await fetch(api, XML_PATH, HOST, mobile)
        assert (answer.status, texts(answer.body, "ErrorCode")) == (200, ["601"])

    async def test_version_2_refers_to_the_xml(self, api: Api):
        path = "/autodiscover/autodiscover.json"
        expected = {
            "Protocol": "Autodiscoverv1",
            "Url": f"https://autodiscover.{EXAMPLE}/autodiscover/autodiscover.xml",
        }
        for target, host in (
            (f"{path}/v1.0/{ALICE}?Protocol=Autodiscoverv1", HOST),
            (f"/Autodiscover/Autodiscover.json?Email={ALICE}&Protocol=AutoDiscoverV1&RedirectCount=1", HOST),
            (path, f"autodiscover.{EXAMPLE}"),
        ):
            assert json.loads((await fetch(api, target, host)).body) == expected
        assert (await fetch(api, f"{path}/v1.0/{ALICE}?Protocol=ActiveSync", HOST)).code == "INVALID_FIELD"
        assert (await fetch(api, f"{path}/v1.0/a@elsewhere.test", HOST)).code == "NOT_FOUND"


class TestSetupOfAMailbox:
    async def test_shows_what_the_mailbox_may_use(self, api: Api):
        mailbox_id = await api.mailbox(ALICE, pop3=False)
        settings = api.app.settings
        api.app.settings = replace(settings, ports=replace(settings.ports, imap=0))
        setup = (await (await api.owner(mailbox_id)).get("/me/setup")).data
        assert (setup["address"], setup["login"], setup["app_password_required"]) == (ALICE, ALICE, False)
        assert [(each["protocol"], each["port"], each["security"]) for each in setup["services"]] == [
            ("imap", 993, "tls"),
            ("smtp", 465, "tls"),
            ("smtp", 587, "starttls"),
            ("sieve", 4190, "starttls"),
        ]
        assert {each["host"] for each in setup["services"]} == {HOST}
        assert (await api.dora.get(f"/mailboxes/{mailbox_id}/setup")).data == setup

    async def test_says_if_an_app_password_is_required(self, api: Api):
        owners: dict[str, Client] = {
            "inherits": await api.owner(await api.mailbox(ALICE)),
            "exempt": await api.owner(await api.mailbox(f"bob@{EXAMPLE}", require_app_passwords=False)),
            "factor": await api.owner(
                await api.mailbox(f"eve@{EXAMPLE}", require_app_passwords=False, second_factor=True)
            ),
        }
        await require_app_passwords(api, True)
        found: dict[str, Any] = {
            name: (await owner.get("/me/setup")).data["app_password_required"] for name, owner in owners.items()
        }
        assert found == {"inherits": True, "exempt": False, "factor": True}

    async def test_a_mailbox_that_cannot_send_has_no_profile(self, api: Api):
        mailbox_id = await api.mailbox(ALICE, smtp=False)
        assert reason(await api.dora.get(f"/mailboxes/{mailbox_id}/setup", format="apple")) == "no_mail_services"

    async def test_without_a_certificate_there_is_no_profile(self, api: Api):
        mailbox_id = await api.mailbox(ALICE)
        served = api.app.data_dir / "tls/served.pem"
        assert not served.exists()
        assert reason(await api.dora.get(f"/mailboxes/{mailbox_id}/setup", format="apple")) == "no_certificate"


class TestLinks:
    async def page(self, api: Api, url: str) -> Answer:
        path = url.removeprefix(api.app.settings.http.public_url)
        assert path.startswith("/setup/")
        return await fetch(api, path, "localhost")

    async def test_whoever_has_the_link_sees_the_settings_and_no_password(self, api: Api):
        mailbox_id = await api.mailbox(ALICE)
        created = await api.dora.post(f"/mailboxes/{mailbox_id}/setup-link")
        assert created.status == 201
        owner = await api.owner(mailbox_id)
        assert (await owner.get("/me/setup")).data["link"] == created.data
        page = await self.page(api, created.data["url"])
        text = unescape(page.body.decode())
        assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        for shown in (ALICE, HOST, "port 993", "<svg", f"{created.data['url']}/mail.mobileconfig", "2026-03-08"):
            assert shown in text
        assert page.headers["cache-control"] == "no-store"
        assert "script" not in page.headers["content-security-policy"]
        entry = (await api.audit_entries("setup_link.create"))[-1]
        assert (entry["resource_id"], entry["details"]["address"]) == (str(mailbox_id), ALICE)
        assert created.data["url"].rpartition("/")[2] not in json.dumps(entry, default=str)

    async def test_the_link_is_shown_as_a_qr_code(self, api: Api):
        mailbox_id = await api.mailbox(ALICE)
        path = f"/mailboxes/{mailbox_id}/setup"
        assert (await api.dora.get(path, format="qr")).code == "NOT_FOUND"
        await api.dora.post(f"{path}-link")
        first = await api.dora.get(path, format="qr")
        assert (first.status, first.headers["content-type"]) == (200, "image/svg+xml")
        root = fromstring(first.body)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        await api.dora.post(f"{path}-link")
        assert (await api.dora.get(path, format="qr")).body != first.body

    async def test_a_link_ends(self, api: Api):
        mailbox_id = await api.mailbox(ALICE)
        path = f"/mailboxes/{mailbox_id}"

        async def make() -> str:
            return (await api.dora.post(f"{path}/setup-link")).data["url"]

        first = await make()
        second = await make()
        assert (await self.page(api, first)).status == 404  # replaced
        assert (await self.page(api, second)).status == 200
        await api.dora.patch(path, {"active": False})
        assert (await self.page(api, second)).status == 404
        await api.dora.patch(path, {"active": True})
        assert (await self.page(api, second)).status == 200
        assert (await api.dora.delete(f"{path}/setup-link")).status == 200
        assert (await api.dora.delete(f"{path}/setup-link")).code == "NOT_FOUND"
        assert (await self.page(api, second)).status == 404
        third = await make()
        api.clock.advance(days=7)
        ended = await self.page(api, third)
        assert (ended.status, "does not work any more" in ended.body.decode()) == (404, True)
        assert (await api.dora.get(f"{path}/setup")).data["link"] is None
        fourth = await make()
        await api.dora.delete(path)
        assert (await self.page(api, fourth)).status == 404
        assert (await self.page(api, f"{fourth}/mail.mobileconfig")).code == "NOT_FOUND"

    async def test_a_link_of_another_domain_is_refused(self, api: Api):
        mailbox_id = await api.mailbox(f"bob@{OTHER}")
        assert (await api.dora.post(f"/mailboxes/{mailbox_id}/setup-link")).code == "FORBIDDEN"
        assert (await api.dora.get(f"/mailboxes/{mailbox_id}/setup")).code == "FORBIDDEN"

    async def test_the_table_has_no_token(self, api: Api):
        mailbox_id = await api.mailbox(ALICE)
        url = (await api.dora.post(f"/mailboxes/{mailbox_id}/setup-link")).data["url"]
        [row] = await api.sql("SELECT * FROM setup_links")
        assert url.rpartition("/")[2] not in repr(row)
