"""The plain login page in a real browser, with chromium's virtual authenticator; its door under the same labels where a
dashboard stands in its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Page, Response, Route, expect

from tests.support import instance as instances
from tests.support.client import PASSWORD
from tests.support.instance import Instance, Launch
from tests.support.ports import free_port

pytestmark = pytest.mark.timeout(300)  # the first of them starts an instance, and a browser

DOORS = ("/login/plain", "/login")
PLAIN = DOORS[0]


@dataclass(frozen=True)
class At(Launch):
    """On a port that is known before: passkeys are made for the public address."""

    port: int = 0

    def command(self, data_dir: Path) -> list[str]:
        whole = super().command(data_dir)
        whole[whole.index("--http") + 1] = f"127.0.0.1:{self.port}"
        return whole


@dataclass
class Site:
    """The public address of an instance, and an administrator of a test's own."""

    http: str
    cookie: str
    email: str = ""


@pytest.fixture(scope="module")
async def instance_at_localhost(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """At an address that browsers have passkeys for; logins are not counted by the second."""
    port = free_port()
    sue = {"email": "sue@example.test", "password": PASSWORD}
    environ = {
        "MAILKEEP_HTTP__PUBLIC_URL": f"http://localhost:{port}",
        "MAILKEEP_LIMITS__LOGIN_PER_SECOND": "0",
        "MAILKEEP_ADMIN_EMAIL": sue["email"],
        "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
    }
    folder = tmp_path_factory.mktemp("door") / "data"
    running: Instance = instances.start(folder, seconds=90, launch=At(environ=environ, port=port))
    http = f"http://localhost:{port}"
    async with aiohttp.ClientSession() as session, session.post(f"{http}/api/v1/auth/login", json=sue) as answer:
        assert answer.status == 200, await answer.text()
        cookie = answer.cookies["svc_session"].value
    yield Site(http, cookie)
    assert running.stop(seconds=60) == 0, running.log


@pytest.fixture
async def site(instance_at_localhost: Site, request: pytest.FixtureRequest) -> Site:
    """With an account that no other test uses."""
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


async def plug_in(page: Page, **options: Any) -> Device:
    """A phone or laptop that knows its owner, unless `options` say otherwise."""
    cdp = await page.context.new_cdp_session(page)
    await cdp.send("WebAuthn.enable")
    usual = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": usual | options})
    return Device(cdp, made["authenticatorId"])


@pytest.fixture
async def device(page: Page) -> Device:
    return await plug_in(page)


async def ask(page: Page, method: str, path: str, body: Any = None) -> Any:
    """A call of the API as the page makes it, with the browser's cookies."""
    script = """async ([method, path, body]) => {
        const sent = body === null ? {} : {headers: {"content-type": "application/json"}, body};
        return (await fetch("/api/v1" + path, {method, ...sent})).json();
    }"""
    return await page.evaluate(script, [method, path, None if body is None else json.dumps(body)])


async def fill_in(page: Page, site: Site, password: str = PASSWORD) -> None:
    await page.get_by_label("Email").fill(site.email)
    await page.get_by_label("Password", exact=True).fill(password)
    await page.get_by_role("button", name="Log in", exact=True).click()


async def is_in(page: Page, site: Site) -> None:
    """A session is open in the browser, wherever the door has led to."""
    await expect(page.get_by_label("Password", exact=True)).to_have_count(0)
    await expect(page.get_by_role("button", name="Sign in with a passkey")).to_have_count(0)
    assert (await ask(page, "GET", "/auth/me"))["data"]["email"] == site.email


async def log_out(page: Page) -> None:
    assert (await ask(page, "POST", "/auth/logout"))["error"] is None


async def register(page: Page, site: Site, name: str) -> list[str]:
    """A passkey by the plain page, from the password on; the recovery codes that are shown, if they are."""
    await page.goto(site.http + PLAIN)
    await fill_in(page, site)
    await expect(page.get_by_text(f"Signed in as {site.email}")).to_be_visible()
    await page.get_by_label("Name of a new passkey").fill(name)
    await page.get_by_role("button", name="Register a passkey").click()
    kept = page.get_by_role("button", name="I have kept them")
    await expect(kept).to_be_visible()
    codes = await page.locator(".codes li").all_inner_texts()
    await kept.click()
    await expect(page.get_by_role("listitem").filter(has_text=name)).to_be_visible()
    return codes


async def test_the_whole_life_of_a_passkey_in_a_browser(page: Page, device: Device, site: Site):
    strange: list[str] = []
    page.on("console", lambda message: strange.append(message.text) if "Content Security" in message.text else None)
    page.on("request", lambda asked: None if asked.url.startswith(site.http) else strange.append(asked.url))

    codes = await register(page, site, "My laptop")
    assert len(set(codes)) == 10
    (held,) = await device.credentials()
    assert (held["rpId"], held["isResidentCredential"]) == ("localhost", True)
    (listed,) = (await ask(page, "GET", "/auth/passkeys"))["data"]
    assert (listed["name"], listed["last_used_at"]) == ("My laptop", None)

    # Alone, and that it is one like any other.
    await page.get_by_role("button", name="Log out").click()
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_text(f"Signed in as {site.email}")).to_be_visible()
    (session,) = [cookie for cookie in await page.context.cookies() if cookie.get("name") == "svc_session"]
    assert [session.get(name) for name in ("httpOnly", "secure", "sameSite")] == [True, True, "Strict"]
    assert (await device.credentials())[0]["signCount"] >= 2

    # After the password, which alone opens nothing any more.
    await page.get_by_role("button", name="Log out").click()
    await fill_in(page, site)
    await expect(page.get_by_text("One more step.")).to_be_visible()
    assert (await ask(page, "GET", "/auth/me"))["error"]["code"] == "AUTH_REQUIRED"
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_text(f"Signed in as {site.email}")).to_be_visible()

    # By a recovery code, with the device away.
    await page.get_by_role("button", name="Log out").click()
    await fill_in(page, site)
    await page.get_by_text("Use a recovery code").click()
    await page.get_by_label("Recovery code").fill(codes[0])
    await page.locator("details").get_by_role("button", name="Log in").click()
    await expect(page.get_by_text(f"Signed in as {site.email}")).to_be_visible()

    # The same device once more is refused, another name and the end of it are not.
    await page.get_by_role("button", name="Register a passkey").click()
    await expect(page.get_by_role("alert")).to_have_text("This device holds a passkey of your account already.")
    page.on("dialog", lambda dialog: dialog.accept("The one on the desk"))
    await page.get_by_role("button", name="Rename My laptop").click()
    await page.get_by_role("button", name="Delete The one on the desk").click()
    await expect(page.get_by_text("None yet.")).to_be_visible()
    assert (await ask(page, "GET", "/auth/passkeys"))["data"] == []
    await page.get_by_role("button", name="Log out").click()
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_role("alert")).to_have_text("The passkey was not accepted.")
    assert strange == []


@pytest.mark.parametrize("door", DOORS)
async def test_every_door_opens_by_the_same_labels(page: Page, device: Device, site: Site, door: str):
    await page.goto(site.http + door)
    await fill_in(page, site, password="not the one")
    await expect(page.get_by_role("alert").filter(has_text="Wrong email or password.")).to_be_visible()
    await fill_in(page, site)
    await is_in(page, site)
    await log_out(page)
    await register(page, site, "A key")
    await log_out(page)

    await page.goto(site.http + door)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await is_in(page, site)
    await log_out(page)

    await page.goto(site.http + door)
    await fill_in(page, site)
    await expect(page.get_by_label("Password", exact=True)).to_have_count(0)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await is_in(page, site)


async def test_a_key_that_asks_for_no_more_than_a_touch_is_a_second_factor(page: Page, site: Site):
    key = await plug_in(page, transport="usb", hasResidentKey=False, hasUserVerification=False, isUserVerified=False)
    await register(page, site, "A key")
    assert (await key.credentials())[0]["isResidentCredential"] is False
    await log_out(page)
    await page.goto(site.http + PLAIN)
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_role("alert")).to_have_text("No passkey was chosen, or the time was up.")
    assert (await ask(page, "GET", "/auth/me"))["error"]["code"] == "AUTH_REQUIRED"
    await fill_in(page, site)
    await expect(page.get_by_text("One more step.")).to_be_visible()
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await is_in(page, site)


async def test_a_login_by_a_provider_that_waits_goes_on_here(page: Page, device: Device, site: Site):
    """The callback of single sign-on puts it behind the `#`."""
    await register(page, site, "A key")
    await log_out(page)
    asked = (await ask(page, "POST", "/auth/login", {"email": site.email, "password": PASSWORD}))["data"]
    await page.goto("about:blank")
    await page.goto(
        f"{site.http}{PLAIN}#totp_session={asked['totp_session']}&methods={','.join(asked['methods'])}&next=/"
    )
    await expect(page.get_by_text("One more step.")).to_be_visible()
    assert page.url == site.http + PLAIN  # it stays in no history
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await is_in(page, site)


async def test_what_the_guide_shows_to_programs_runs(page: Page, device: Device, site: Site):
    guide = (instances.ROOT / "docs" / "howto" / "passkeys.md").read_text("utf-8")
    shown = re.findall(r"```js\n(.*?)```", guide, re.DOTALL)
    assert len(shown) == 1
    await page.goto(site.http + PLAIN)
    await fill_in(page, site)
    await expect(page.get_by_text(f"Signed in as {site.email}")).to_be_visible()
    answer = await page.evaluate(f"async () => {{ {shown[0]}; return (await fetch('/api/v1/auth/passkeys')).json() }}")
    (listed,) = answer["data"]
    assert listed["name"] == "My laptop"
    assert listed["last_used_at"] is not None


ERRORS = (
    ("error=FORBIDDEN&reason=no_account", "No account of this server belongs to that identity."),
    ("error=FORBIDDEN", "You may not log in this way"),
    ("error=CONFLICT", "That identity belongs to another account"),
    ("error=SESSION_INVALID", "The login took too long"),
    ("error=UNAVAILABLE", "does not work at the moment"),
    ("error=INVALID_CREDENTIALS", "It was not confirmed who you are."),
    ("error=RATE_LIMIT_EXCEEDED", "Too many tries."),
    ("error=FORBIDDEN&reason=login_again", "Log in again for this."),
    ("error=%3Cimg+src%3Dx+onerror%3Dalert(1)%3E", "The login did not work (<img src=x onerror=alert(1)>)."),
)


async def test_what_was_refused_is_said_in_words(page: Page, site: Site):
    for query, words in ERRORS:
        await page.goto(f"{site.http}{PLAIN}?{query}")
        await expect(page.get_by_role("alert")).to_contain_text(words)
        assert await page.locator("img").count() == 0
        assert page.url == site.http + PLAIN


async def test_providers_are_ways_in_and_may_be_linked(page: Page, site: Site):
    providers = [{"id": "one", "name": "Example One", "login_path": "/api/v1/auth/oidc/login/one"}]

    async def answer(route: Route) -> None:
        await route.fulfill(json={"data": providers, "error": None, "meta": {}})

    await page.route("**/api/v1/auth/oidc/providers", answer)
    await page.goto(site.http + PLAIN)
    way = page.get_by_role("link", name="Continue with Example One")
    assert await way.get_attribute("href") == "/api/v1/auth/oidc/login/one"
    await fill_in(page, site)
    link = page.get_by_role("link", name="Link Example One")
    assert await link.get_attribute("href") == "/api/v1/auth/oidc/login/one?link=1"
    await page.get_by_role("button", name="Log out").click()
    await expect(way).to_be_visible()  # nothing is asked for any more when the page is closed


async def test_off_loopback_on_plain_http_it_says_why_the_session_is_dropped(page: Page, site: Site):
    """As if another machine had served it: the browser asks for a name, and gets our files."""

    async def answer(route: Route) -> None:
        taken = await page.request.fetch(site.http + route.request.url.removeprefix("http://mail.example.test"))
        await route.fulfill(response=taken)

    await page.route("http://mail.example.test/**", answer)
    await page.goto(f"http://mail.example.test{PLAIN}")
    await expect(page.get_by_role("note")).to_contain_text("your browser drops it")
    await expect(page.get_by_role("button", name="Log in")).to_be_visible()
    await expect(page.get_by_role("button", name="Sign in with a passkey")).to_have_count(0)
    await page.goto(site.http + PLAIN)
    await expect(page.get_by_role("button", name="Log in")).to_be_visible()
    await expect(page.get_by_role("note")).to_have_count(0)


async def test_the_page_allows_nothing_but_its_own_files(page: Page, site: Site):
    answer: Response | None = await page.goto(site.http + PLAIN)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "unsafe" not in policy
    assert {part.split()[0]: part.split()[1:] for part in policy.split("; ")} == {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "connect-src": ["'self'"],
        "img-src": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }
    html = await answer.text()
    assert "http:" not in html
    assert "https:" not in html
    assert "onclick" not in html
    script = await page.request.get(f"{site.http}/login/page.js")
    text = await script.text()
    assert not any(word in text for word in ("innerHTML", "insertAdjacentHTML", "document.write", "eval("))
