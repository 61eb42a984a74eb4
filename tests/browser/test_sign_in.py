"""The sign-in page with chromium's virtual authenticators, and the redirects of identity providers to it."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.browser.screens import FaultRecorder, require_dashboard
from tests.browser.test_getting_in import LaunchOnPort
from tests.support import instance as instances
from tests.support.client import PASSWORD
from tests.support.instance import Instance
from tests.support.ports import free_port

pytestmark = pytest.mark.timeout(300)  # the first test starts an instance and a browser

LOGIN = "/login"
GUIDE = (instances.ROOT / "docs/howto/passkeys.md").read_text("utf-8")
REGISTER, SIGN_IN = re.search(r"```js\n(.*?)```", GUIDE, re.DOTALL)[1].split("// Sign in.")  # type: ignore[index]


@dataclass
class Site:
    """The public URL of an instance, the cookie of its first administrator, and the account of a test."""

    http: str
    cookie: str
    email: str = ""


@pytest.fixture(scope="module")
async def instance_at_localhost(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """An instance at `localhost`, where browsers support passkeys, without a limit of logins per second."""
    require_dashboard()
    port = free_port()
    sue = {"email": "sue@example.test", "password": PASSWORD}
    environ = {
        "MAILKEEP_HTTP__PUBLIC_URL": f"http://localhost:{port}",
        "MAILKEEP_LIMITS__LOGIN_PER_SECOND": "0",
        "MAILKEEP_ADMIN_EMAIL": sue["email"],
        "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
    }
    folder = tmp_path_factory.mktemp("sign_in") / "data"
    running: Instance = instances.start(folder, seconds=90, launch=LaunchOnPort(environ=environ, port=port))
    http = f"http://localhost:{port}"
    async with aiohttp.ClientSession() as session, session.post(f"{http}/api/v1/auth/login", json=sue) as answer:
        assert answer.status == 200, await answer.text()
        cookie = answer.cookies["svc_session"].value
    yield Site(http, cookie)
    assert running.stop(seconds=60) == 0, running.log


@pytest.fixture
async def site(instance_at_localhost: Site, request: pytest.FixtureRequest) -> Site:
    """The instance with a new account for the test."""
    site = instance_at_localhost
    email = f"p{abs(hash(request.node.name))}@example.test"
    body = {"email": email, "password": PASSWORD}
    headers = {"cookie": f"svc_session={site.cookie}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{site.http}/api/v1/admins", json=body) as answer,
    ):
        assert answer.status == 201, await answer.text()
    return replace(site, email=email)


@dataclass
class Device:
    """One of chromium's virtual authenticators."""

    cdp: Any
    id: str

    async def credentials(self) -> list[dict[str, Any]]:
        return (await self.cdp.send("WebAuthn.getCredentials", {"authenticatorId": self.id}))["credentials"]


async def add_authenticator(page: Page, **options: Any) -> Device:
    """Add a virtual authenticator: built into the device and with user verification, unless `options` override it."""
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("WebAuthn.enable")
    defaults = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    authenticator = await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": defaults | options})
    return Device(cdp, authenticator["authenticatorId"])


@pytest.fixture
async def device(page: Page) -> Device:
    return await add_authenticator(page)


async def call_api(page: Page, method: str, path: str, body: Any = None) -> Any:
    """Call the API from the page, with the browser's cookies."""
    script = """async ([method, path, body]) => {
        const options = body === null ? {} : {headers: {"content-type": "application/json"}, body};
        return (await fetch("/api/v1" + path, {method, ...options})).json();
    }"""
    return await page.evaluate(script, [method, path, None if body is None else json.dumps(body)])


def sign_in_button(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile(r"^(Log|Sign) in\s*$"))


def passkey_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Sign in with a passkey")


async def submit_password(page: Page, site: Site, password: str = PASSWORD) -> None:
    await page.get_by_label("Email").fill(site.email)
    await page.get_by_label("Password", exact=True).fill(password)
    await sign_in_button(page).click()


async def expect_signed_in(page: Page, site: Site) -> None:
    """Check that the browser has a session of the account."""
    await expect(page).not_to_have_url(re.compile(LOGIN))
    assert (await call_api(page, "GET", "/auth/me"))["data"]["email"] == site.email


async def log_out(page: Page, site: Site) -> None:
    assert (await call_api(page, "POST", "/auth/logout"))["error"] is None
    await page.goto(site.http + LOGIN)


async def register(page: Page, site: Site) -> list[str]:
    """Register a passkey with the example of the guide, then sign out; return the recovery codes."""
    await page.goto(site.http + LOGIN)
    response = await call_api(page, "POST", "/auth/login", {"email": site.email, "password": PASSWORD})
    assert response["error"] is None
    script = REGISTER.replace('await call("/register/verify"', 'return await call("/register/verify"')
    codes: list[str] = (await page.evaluate(f"async () => {{ {script} }}"))["recovery_codes"]
    await log_out(page, site)
    return codes


async def test_a_passkey_signs_in_alone_or_after_the_password(page: Page, device: Device, site: Site):
    recorder = FaultRecorder(site.http)
    recorder.attach(page)
    codes = await register(page, site)
    assert len(set(codes)) == 10
    (credential,) = await device.credentials()
    assert (credential["rpId"], credential["isResidentCredential"]) == ("localhost", True)

    await passkey_button(page).click()
    await expect_signed_in(page, site)
    (session,) = [cookie for cookie in await page.context.cookies() if cookie.get("name") == "svc_session"]
    assert [session.get(name) for name in ("httpOnly", "secure", "sameSite")] == [True, True, "Strict"]
    assert (await device.credentials())[0]["signCount"] >= 2

    await log_out(page, site)
    await submit_password(page, site)
    await expect(page.get_by_label("Password", exact=True)).to_have_count(0)
    assert (await call_api(page, "GET", "/auth/me"))["error"][
        "code"
    ] == "AUTH_REQUIRED"  # the password alone is not enough
    await passkey_button(page).click()
    await expect_signed_in(page, site)

    await log_out(page, site)
    await submit_password(page, site)
    await page.get_by_role("button", name="Use a recovery code").click()
    await page.get_by_label("Recovery code").fill(codes[0])
    await sign_in_button(page).click()
    await expect_signed_in(page, site)

    (passkey,) = (await call_api(page, "GET", "/auth/passkeys"))["data"]
    assert (await call_api(page, "DELETE", f"/auth/passkeys/{passkey['id']}", {}))["error"] is None
    await log_out(page, site)
    await passkey_button(page).click()
    await expect(page.get_by_role("alert")).to_contain_text("The passkey was not accepted.")
    assert recorder.faults == []


async def test_a_wrong_password_is_refused_on_the_page(page: Page, site: Site):
    await page.goto(site.http + LOGIN)
    await submit_password(page, site, password="not the one")
    await expect(page.get_by_role("alert").filter(has_text="Wrong email or password.")).to_be_visible()
    await submit_password(page, site)
    await expect_signed_in(page, site)


async def test_a_device_registers_only_one_passkey_of_an_account(page: Page, device: Device, site: Site):
    await register(page, site)
    await passkey_button(page).click()
    await expect_signed_in(page, site)
    name = await page.evaluate(f"async () => {{ try {{ {REGISTER} }} catch (error) {{ return error.name }} }}")
    assert name == "InvalidStateError"


async def test_a_security_key_without_user_verification_is_a_second_factor(page: Page, site: Site):
    key = await add_authenticator(
        page, transport="usb", hasResidentKey=False, hasUserVerification=False, isUserVerified=False
    )
    await register(page, site)
    assert (await key.credentials())[0]["isResidentCredential"] is False
    await passkey_button(page).click()
    await expect(page.get_by_role("alert")).to_contain_text("No passkey was")
    assert (await call_api(page, "GET", "/auth/me"))["error"]["code"] == "AUTH_REQUIRED"
    await submit_password(page, site)
    await expect(page.get_by_label("Password", exact=True)).to_have_count(0)
    await passkey_button(page).click()
    await expect_signed_in(page, site)


async def test_single_sign_on_continues_with_the_second_factor(page: Page, device: Device, site: Site):
    """The callback passes the pending login in the URL fragment."""
    await register(page, site)
    pending = (await call_api(page, "POST", "/auth/login", {"email": site.email, "password": PASSWORD}))["data"]
    await page.goto("about:blank")
    methods = ",".join(pending["methods"])
    await page.goto(f"{site.http}{LOGIN}#totp_session={pending['totp_session']}&methods={methods}&next=/")
    await expect(page.get_by_label("Password", exact=True)).to_have_count(0)
    await expect(passkey_button(page)).to_be_visible()
    assert "#" not in page.url  # the pending login must not stay in the browser history
    await passkey_button(page).click()
    await expect_signed_in(page, site)


async def test_the_owner_of_a_mailbox_signs_in_with_a_passkey(page: Page, device: Device, site: Site):
    recorder = FaultRecorder(site.http)
    recorder.attach(page)
    headers = {"cookie": f"svc_session={site.cookie}"}
    async with aiohttp.ClientSession(f"{site.http}/api/v1/", headers=headers) as session:
        async with session.post("domains", json={"name": "owners.test"}) as answer:
            domain = (await answer.json())["data"]
        mailbox = {"domain_id": domain["id"], "local_part": "olga", "password": PASSWORD}
        async with session.post("mailboxes", json=mailbox) as answer:
            assert answer.status == 201, await answer.text()

    async def submit_address() -> None:
        await page.get_by_label("Email address").fill("olga@owners.test")
        await page.get_by_label("Password", exact=True).fill(PASSWORD)
        await sign_in_button(page).click()

    overview = page.get_by_role("heading", level=1, name="Overview")
    await page.goto(f"{site.http}/me/login?next=/me/security")
    await submit_address()
    await page.get_by_role("button", name="Add a passkey").click()
    await page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).click()
    await expect(page.get_by_role("list", name="Recovery codes").get_by_role("listitem")).to_have_count(10)
    await page.get_by_role("button", name="I've saved them").click()
    await expect(page.get_by_role("button", name="Rename Passkey")).to_be_visible()
    (credential,) = await device.credentials()
    assert credential["rpId"] == "localhost"
    await page.get_by_role("button", name="Sign out").click()
    await passkey_button(page).click()
    await expect(overview).to_be_visible()
    await page.get_by_role("button", name="Sign out").click()
    await submit_address()
    await expect(page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
    await passkey_button(page).click()
    await expect(overview).to_be_visible()
    assert recorder.faults == []


async def test_the_guides_example_for_programs_runs(page: Page, device: Device, site: Site):
    await page.goto(site.http + LOGIN)
    await submit_password(page, site)
    await expect_signed_in(page, site)
    response = await page.evaluate(
        f"async () => {{ {REGISTER}; // {SIGN_IN}; return (await fetch('/api/v1/auth/passkeys')).json() }}"
    )
    (passkey,) = response["data"]
    assert passkey["name"] == "My laptop"
    assert passkey["last_used_at"] is not None


ERRORS = (
    ("error=FORBIDDEN&reason=no_account", "No account"),
    ("error=FORBIDDEN&reason=access_denied", "refused the sign-in, or you cancelled it"),
    ("error=FORBIDDEN&reason=not_linked", "Sign in another way first"),
    ("error=FORBIDDEN&reason=network", "not allowed from this network"),
    ("error=CONFLICT&reason=already_linked", "linked to another identity"),
    ("error=FORBIDDEN", "That identity"),
    ("error=CONFLICT", "another account"),
    ("error=SESSION_INVALID", "The sign-in expired"),
    ("error=UNAVAILABLE", "The identity provider"),
    ("error=INVALID_CREDENTIALS", "did not confirm"),
    ("error=RATE_LIMIT_EXCEEDED", "Too many"),
    ("error=FORBIDDEN&reason=login_again", "15 minutes"),
    ("error=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "(<img src=x onerror=alert(1)>)"),
)


async def test_errors_of_single_sign_on_are_explained(page: Page, site: Site):
    for query, text in ERRORS:
        await page.goto(f"{site.http}{LOGIN}?{query}")
        await expect(page.get_by_role("alert")).to_contain_text(text)
        assert await page.locator("img").count() == 0


async def test_plain_http_from_another_machine_is_explained(page: Page, site: Site):
    """Requests to another host name are answered with the pages of the instance."""

    async def serve(route: Route) -> None:
        response = await page.request.fetch(site.http + route.request.url.removeprefix("http://mail.example.test"))
        await route.fulfill(response=response)

    await page.route("http://mail.example.test/**", serve)
    await page.goto(f"http://mail.example.test{LOGIN}")
    await expect(page.get_by_role("alert")).to_contain_text(re.compile("plain http", re.IGNORECASE))
    await expect(sign_in_button(page)).to_be_visible()
    await expect(passkey_button(page)).to_have_count(0)
    await page.goto(site.http + LOGIN)
    await expect(passkey_button(page)).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)
