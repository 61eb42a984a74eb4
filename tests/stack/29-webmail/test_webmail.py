"""The webmail: an owner's day in a browser, a script in it beside an administrator's session, code that has taken over
its PHP, and whose address sign-ins count for.
"""

from __future__ import annotations

import asyncio
import email
import email.policy
import imaplib
import json
import os
import re
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from playwright.async_api import Browser, Page, expect

from mailkeep.db import postgres
from mailkeep.db.instance import run_folder
from mailkeep.db.postgres_cluster import WEBMAIL
from mailkeep.mail.daemons.paths import InstancePaths
from mailkeep.mail.daemons.webmail import IMAP_PORT
from mailkeep.mail.webmail.proxy_header import write_header
from tests.plugins import browser as chromium
from tests.stack.harness import ADDRESS, HOSTNAME, PASSWORD, Stack, eventually, require_full_profile
from tests.stack.mail_sessions import open_managesieve
from tests.stack.webmail import HOST, RESOLVER_RULES, Webmail, ask, change, run_php, sign_in

OWNER, NEW_PASSWORD = "alice@webmail.test", "a password that is new to everybody"
FRIEND = "friend+webmail@remote.test"
MB = 1 << 20


@pytest.fixture(scope="module")
def webmail(stack_folder: Path) -> Iterator[Webmail]:
    require_full_profile(webmail=True)
    stack = Stack(stack_folder)
    actions = change(stack, {"webmail.enabled": True, "webmail.host": HOST})
    assert actions == {
        "dovecot": "reload", "postfix": "reload", "nginx": "reload", "php-fpm": "restart", "webmail": "restart",
    }  # fmt: skip
    yield Webmail(stack)
    change(stack, {"webmail.enabled": None, "webmail.host": None})
    states = run_folder(stack.data_dir) / "services.json"
    eventually(lambda: not {"php-fpm", "webmail"} & json.loads(states.read_text()).keys(), what="the stop")


@pytest.fixture(scope="module")
async def resolving() -> AsyncIterator[Browser]:
    """A browser that finds the instance's host names."""
    program = chromium.program()
    if program is None:
        pytest.skip("there is no chromium here")
    async with chromium.launch(program, RESOLVER_RULES) as running:
        yield running


async def fill_in(page: Page, webmail: Webmail, password: str) -> None:
    await page.fill("#rcmloginuser", OWNER)
    await page.fill("#rcmloginpwd", password)
    await page.click("#rcmloginsubmit")


async def save_form(page: Page, expected: str) -> None:
    await page.get_by_role("button", name="Save").click()
    await expect(page.locator("#messagestack")).to_contain_text(expected)


async def test_a_day_in_the_webmail(resolving: Browser, webmail: Webmail, tmp_path: Path) -> None:
    stack = webmail.stack
    mailbox = await asyncio.to_thread(webmail.make_mailbox, "alice", require_app_passwords=True)
    path = f"/mailboxes/{mailbox['id']}/app-passwords"
    app_password = (await asyncio.to_thread(stack.do, "POST", path, {"name": "Webmail"}))["password"]
    await asyncio.to_thread(stack.deliver, OWNER, "A question")
    for size in (24, 26):
        (tmp_path / f"{size}.bin").write_bytes(os.urandom(size * MB))

    context = await resolving.new_context(ignore_https_errors=True, color_scheme="dark")
    context.set_default_timeout(chromium.TIMEOUT_MS)
    page = await context.new_page()
    try:
        await page.goto(webmail.url)
        await fill_in(page, webmail, PASSWORD)
        await expect(page.locator("#messagestack")).to_contain_text("Login failed")
        await fill_in(page, webmail, app_password)
        await expect(page.locator("html.dark-mode")).to_have_count(1)

        await page.locator("#messagelist tr.message", has_text="A question").click()
        await expect(page.frame_locator("#messagecontframe").locator("#messagebody")).to_contain_text("Hello.")

        await page.goto(f"{webmail.url}?_task=mail&_action=compose")
        await page.locator(".recipient-input input").first.fill(FRIEND)
        await page.fill("#compose-subject", "With a file")
        await page.fill("#composebody", "Here it is.")
        files = page.locator('input[type=file][name="_attachments[]"]').first
        await files.set_input_files(tmp_path / "26.bin")
        await expect(page.locator("#messagestack")).to_contain_text("exceeds the maximum size of 25 MB")
        await files.set_input_files(tmp_path / "24.bin")
        await expect(page.locator("#attachment-list li:not(.uploading)")).to_contain_text("24.bin")
        await page.locator(".send").first.click()
        await page.wait_for_url("**_mbox=INBOX**")

        await page.goto(f"{webmail.url}?_task=settings&_action=plugin.managesieve")
        await page.locator("a.create").first.click()
        form = page.frame_locator("#filter-box")
        await form.locator("[name=_name]").fill("Lists")
        await form.locator('[name="_rule_target[0][]"]').fill("list")
        await form.get_by_role("button", name="Save").click()
        await expect(page.locator("#filterslist")).to_contain_text("Lists")

        await page.goto(f"{webmail.url}?_task=settings&_action=plugin.managesieve-vacation")
        await page.fill("[name=vacation_reason]", "I am away.")
        await page.select_option("[name=vacation_status]", "on")
        await save_form(page, "saved successfully")

        await page.goto(f"{webmail.url}?_task=settings&_action=plugin.password")
        for current, new, expected in (
            (app_password, NEW_PASSWORD, "Could not save new password. Wrong email or password."),
            (PASSWORD, "short", "The password has fewer than 8 characters."),
            (PASSWORD, NEW_PASSWORD, "Successfully saved."),
        ):
            await page.fill("#curpasswd", current)
            await page.fill("#newpasswd", new)
            await page.fill("#confpasswd", new)
            await save_form(page, expected)
        # The session goes on with its app password.
        await page.goto(f"{webmail.url}?_task=mail")
        await expect(page.locator("#messagelist")).to_contain_text("A question")
    finally:
        await context.close()
    await asyncio.to_thread(check_results, stack, mailbox["id"], app_password, (tmp_path / "24.bin").read_bytes())


def check_results(stack: Stack, mailbox_id: str, app_password: str, attachment: bytes) -> None:
    """What the owner did in the webmail is what mail clients and other servers see."""
    (sent,) = stack.arrived(FRIEND)
    message = email.message_from_bytes(sent, policy=email.policy.default)
    assert message["From"] == OWNER
    assert "DKIM-Signature" in message
    (part,) = message.iter_attachments()
    assert part.get_content() == attachment
    with stack.imap(OWNER, app_password) as client:
        assert client.select("Sent", readonly=True) == ("OK", [b"1"])
    session = open_managesieve(stack, OWNER, app_password)
    try:
        session.sendall(b'GETSCRIPT "webmail"\r\n')
        script = ""
        while not script.endswith('OK "Getscript completed."\r\n') and (part_read := session.recv(1 << 16)):
            script += part_read.decode()
    finally:
        session.close()
    assert "fileinto" in script
    assert "I am away." in script
    (audited,) = stack.do("GET", f"/audit?action=mailbox.password&resource_id={mailbox_id}")
    assert (audited["actor"]["type"], audited["ip_address"]) == ("mailbox", "127.0.0.1")
    stack.do("PATCH", f"/mailboxes/{mailbox_id}", {"require_app_passwords": False})
    stack.imap(OWNER, NEW_PASSWORD).logout()
    with pytest.raises(imaplib.IMAP4.error):
        stack.imap(OWNER, PASSWORD)


# What a script tries: to read with the session's cookie, and to write by a form.
SCRIPT = """async url => {
    const read = await fetch(url + '/api/v1/auth/me', {credentials: 'include'}).then(r => r.text(), e => 'blocked');
    const write = await fetch(url + '/api/v1/domains', {method: 'POST', credentials: 'include', mode: 'no-cors',
        headers: {'Content-Type': 'text/plain'}, body: '{"name": "stolen.test"}'}).then(r => r.type, e => 'blocked');
    return [read, write];
}"""


@pytest.mark.parametrize("has_policy", [True, False])
async def test_a_script_in_the_webmail_can_not_use_a_session(
    resolving: Browser, webmail: Webmail, *, has_policy: bool
) -> None:
    """Also without the Content-Security-Policy, as if the script had got around it."""
    context = await resolving.new_context(ignore_https_errors=True, bypass_csp=not has_policy)
    try:
        name, _, value = webmail.stack.cookie.partition("=")
        await context.add_cookies([{"name": name, "value": value, "url": webmail.dashboard, "sameSite": "Strict"}])
        page = await context.new_page()
        own = await page.goto(f"{webmail.dashboard}/api/v1/auth/me")
        assert own
        assert own.status == 200
        await page.goto(webmail.url)
        assert await page.evaluate(SCRIPT, webmail.dashboard) == ["blocked", "blocked"]
    finally:
        await context.close()
    assert webmail.stack.do("GET", "/domains?name=stolen.test") == []


def test_the_host_of_the_webmail_serves_nothing_else(webmail: Webmail) -> None:
    for path in ("/api/v1/auth/me", "/me", "/login", "/docs", "/program/lib/Roundcube/bootstrap.php", "/webmail/"):
        assert ask(webmail, "GET", path)[0].status == 404
    redirect, _ = ask(webmail, "GET", "/webmail/", host=HOSTNAME)
    assert (redirect.status, redirect.getheader("Location")) == (302, webmail.url)


# Prints the outcome of each attempt. @...@ are values of the instance.
PLANTED = r"""<?php
function attempt($do) { try { return $do(); } catch (Throwable $e) { return $e->getMessage(); } }
function connect($to) {
    $stream = @stream_socket_client($to, $number, $text, 3);
    return $stream ? 'connected' : $text;
}
function sql($role, $database, $statement) {
    try {
        $db = new PDO("pgsql:host=@pg@;port=5432;dbname=$database", $role, '');
        return $db->query($statement)->fetchAll(PDO::FETCH_COLUMN);
    } catch (PDOException $e) { return 'refused'; }
}
function call($path) {
    $context = stream_context_create(['http' => ['method' => 'POST', 'content' => '', 'ignore_errors' => true]]);
    @file_get_contents("http://localhost$path", false, $context);
    return $http_response_header[0] ?? 'no answer';
}
$own = fn($statement) => sql('mailkeep_webmail', 'mailkeep_webmail', $statement);
ini_set('open_basedir', '');
echo json_encode([
    'uid' => [posix_getuid(), posix_getgid()],
    'tcp' => array_map('connect', @targets@),
    'unix' => array_map(fn($path) => connect("unix://$path"), @sockets@),
    'imap' => connect('tcp://[::1]:143'),
    'files' => array_map(fn($path) => @file_exists($path), @files@),
    'programs' => array_map(fn($path) => @file_exists($path), ['/bin/sh', '/usr/bin/php', '/usr/sbin/sendmail']),
    'own tables' => $own("SELECT count(*) FROM session"),
    'roles' => array_map(fn($role) => sql($role, 'mailkeep', 'SELECT 1'),
                         ['postgres', 'mailkeep_owner', 'mailkeep_app', 'mailkeep_audit', 'mailkeep_dovecot']),
    'databases' => array_map(fn($name) => sql('mailkeep_webmail', $name, 'SELECT 1'),
                             ['mailkeep', 'postgres', 'template1']),
    'statements' => array_map($own, [
        "SET ROLE mailkeep_app", "SET SESSION AUTHORIZATION mailkeep_app", "CREATE ROLE x", "CREATE DATABASE x",
        "SELECT pg_read_file('/etc/passwd')", "COPY session FROM PROGRAM 'id'", "CREATE EXTENSION dblink",
        "SELECT * FROM pg_authid", "ALTER SYSTEM SET port = 1", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE usename = 'mailkeep_app'",
    ]),
    'call' => array_map('call', ['/api/v1/me', '/api/v1/auth/login', '/api/v1/me/forward', '/metrics']),
]);
"""


def test_planted_php_reaches_nothing_else(webmail: Webmail) -> None:
    stack = webmail.stack
    run = run_folder(stack.data_dir)
    paths = InstancePaths(stack.data_dir, run)
    ports = [stack.ports[each] for each in ("smtp", "submission", "imaps", "sieve", "https")]
    api = int(stack.api.rpartition(":")[2])
    targets = [f"tcp://127.0.0.1:{port}" for port in (*ports, api)]
    targets += [f"tcp://{paths.own_address}:{IMAP_PORT}", "tcp://[::1]:22", "tcp://192.0.2.1:80"]
    sockets = [str(each) for each in (paths.api_socket, paths.control_socket, paths.sendmail_socket, paths.webmail_smtp,
                                      paths.dovecot_lmtp, paths.redis_socket, paths.php_socket)]  # fmt: skip
    files = ["/etc/shadow", str(stack.data_dir), str(paths.tls), str(run / "pids"), "/proc/1", "/proc/net", "/root"]
    values = {"pg": str(run / "pg"), "targets": _php(targets), "sockets": _php(sockets), "files": _php(files)}
    found = run_php(webmail, re.sub("@([a-z]+)@", lambda match: values[match[1]], PLANTED))
    assert 0 not in found["uid"]
    assert set(found["tcp"]) <= {"Connection refused", "Network is unreachable"}
    assert set(found["unix"]) == {"No such file or directory"}
    assert found["imap"] == "connected"
    assert not any(found["files"][1:3]) or found["files"][1] is True  # the folder of uploads is mounted below it
    assert found["programs"] == [False] * 3
    assert found["own tables"][0] >= 0
    assert found["roles"] == ["refused"] * 5
    assert found["databases"] == ["refused"] * 3
    assert found["statements"] == ["refused"] * 10
    assert found["call"] == ["HTTP/1.1 403 Forbidden"] * 4


def _php(values: list[str]) -> str:
    return json.dumps(values)


# As after failures at several accounts.
BLOCK = """
INSERT INTO sign_in_blocks (id, source, failures, failure_id, created_at, until)
VALUES (%(id)s, %(source)s, 30, %(id)s, now(), now() + interval '1 minute')
"""


def test_sign_ins_are_counted_for_the_address_of_the_browser(webmail: Webmail) -> None:
    stack = webmail.stack
    guessed, other = (webmail.make_mailbox(name) for name in ("ann", "ben"))
    attacker, honest = "127.0.43.1", "127.0.43.2"
    for guess in ("one", "two"):
        assert not sign_in(webmail, attacker, guessed["address"], guess)
    urls = postgres.running_urls(stack.data_dir)
    assert urls
    with psycopg.connect(urls.app) as conn:
        query = "SELECT source FROM sign_in_failures WHERE account = %s"
        assert conn.execute(query, [f"mailbox:{guessed['address']}"]).fetchall() == [(attacker,)] * 2
        conn.execute(BLOCK, {"id": uuid4(), "source": attacker})
    assert not sign_in(webmail, attacker, other["address"], PASSWORD)
    assert sign_in(webmail, honest, other["address"], PASSWORD)

    def find_login() -> dict[str, str] | None:
        login = stack.do("GET", f"/mailboxes/{other['id']}")["last_login"]
        return login if login["at"] else None

    login = eventually(find_login, what="the login")
    assert (login["ip"], login["protocol"]) == (honest, "imap")


def test_a_new_mailbox_at_an_old_address_starts_empty(webmail: Webmail) -> None:
    address = webmail.make_mailbox("former")["address"]
    assert sign_in(webmail, ADDRESS, address, PASSWORD)

    def find_users() -> list[tuple[int]]:
        with psycopg.connect(host=str(run_folder(webmail.stack.data_dir) / "pg"), dbname=WEBMAIL, user=WEBMAIL) as conn:
            return conn.execute("SELECT user_id FROM users WHERE username = %s", [address]).fetchall()

    assert len(find_users()) == 1
    webmail.make_mailbox("former")
    eventually(lambda: not find_users(), what="the end of the former owner's data")


@pytest.mark.parametrize("mark", ["", "wrong.example"])
def test_a_forged_header_on_the_listener_does_not_count(webmail: Webmail, mark: str) -> None:
    stack = webmail.stack
    paths = InstancePaths(stack.data_dir, run_folder(stack.data_dir))
    mailbox = webmail.make_mailbox("forged")
    with socket.create_connection((paths.own_address, IMAP_PORT), 30, (paths.own_address, 0)) as connection:
        # Another name than ours; with it the connection counts as protected, so that the password is looked at.
        connection.sendall(write_header("203.0.113.78", 4711, mark or "x"))
        stream = connection.makefile("rwb")
        assert stream.readline().startswith(b"* OK")
        stream.write(f'a LOGIN "{mailbox["address"]}" "{PASSWORD}"\r\n'.encode())
        stream.flush()
        line = stream.readline()
        while not line.startswith(b"a "):
            line = stream.readline()
        assert line.startswith(b"a OK")
    seen = eventually(lambda: stack.do("GET", f"/mailboxes/{mailbox['id']}")["last_login"]["ip"], what="the login")
    assert seen == paths.own_address


def test_a_stopped_webmail_says_so(webmail: Webmail) -> None:
    address = webmail.make_mailbox("again")["address"]
    for action, expected in (("stop", 503), ("start", 200)):
        path = f"/orchestrator/services/php-fpm/{action}"
        eventually(lambda path=path: webmail.stack.ask("POST", path, {}).status == 202, what="the end of the last one")
        eventually(lambda status=expected: ask(webmail, "GET", "/")[0].status == status, what=action)
    assert sign_in(webmail, "127.0.0.1", address, PASSWORD)
