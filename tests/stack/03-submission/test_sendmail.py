"""Local programs send with `mailkeep sendmail`, only as their account unless permitted more."""

from __future__ import annotations

import json
import pwd
import subprocess
import sys
from typing import Any
from urllib.parse import quote

import pytest

from mailkeep.db.instance import run_folder
from mailkeep.mail.daemons.paths import InstancePaths
from tests.stack.harness import HOSTNAME, PASSWORD, Stack, eventually
from tests.support.instance import ROOT
from tests.support.scratch import new_directory

NOBODY, WWW = pwd.getpwnam("nobody"), pwd.getpwnam("www-data")


def sendmail(
    stack: Stack, *arguments: str, message: bytes = b"Subject: Hello\n\nHello.\n", account: Any = NOBODY
) -> tuple[int, str]:
    """Exit code and standard error of the program, run by an account without access to the data directory."""
    socket = InstancePaths(stack.data_dir, run_folder(stack.data_dir)).sendmail_socket
    # Imported first, because the account may have no access to the program's files.
    become = f"os.setgroups([]); os.setresgid(*[{account.pw_gid}] * 3); os.setresuid(*[{account.pw_uid}] * 3)"
    code = f"import os, sys; from mailkeep.run.cli.sendmail import main; {become}; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", code, "--socket", str(socket), *arguments],
        input=message,
        capture_output=True,
        check=False,
        cwd=ROOT,
        timeout=120,
    )
    return done.returncode, done.stderr.decode()


def row(stack: Stack, to: str) -> dict[str, Any]:
    (found,) = eventually(lambda: stack.do("GET", f"/messages?to={quote(to)}"), what="the history")
    return stack.do("GET", f"/messages/{found['id']}")


def test_an_account_sends_as_itself_at_the_host_name(stack: Stack) -> None:
    to = "friend+cron@remote.test"
    message = b"X-Mailkeep-Tags: forged\nResent-From: x@forged.test\n"
    message += b"Subject: gr\xc3\xbc\xc3\x9fe\nBcc: a@remote.test\n\nbare\nlines \xc3\xbc\n"
    assert sendmail(stack, "-i", "-FCron Daemon", to, message=message) == (0, "")
    (mail,) = stack.arrived(to)
    assert f"From: Cron Daemon <nobody@{HOSTNAME}>\r\n".encode() in mail
    assert b"\r\nDate: " in mail
    assert b"\r\nMessage-ID: <" in mail
    assert b"\r\n\r\nbare\r\nlines \xc3\xbc\r\n" in mail
    assert b"\r\nContent-Transfer-Encoding: 8bit\r\n" in mail
    for word in (b"Bcc", b"X-Mailkeep", b"forged", b"a@remote", b"127.0.0.1", b"localhost", b"nobody)"):
        assert word not in mail
    found = row(stack, to)
    assert (found["source"], found["subject"], found["from"]) == ("smtp", "grüße", f"nobody@{HOSTNAME}")
    eventually(lambda: row(stack, to)["status"] == "delivered")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["-f", "ceo@progs.test"], b"Subject: x\n\nx\n"),
        ([], b"From: ceo@progs.test\n\nx\n"),
        ([], f"From: root@{HOSTNAME}\n\nx\n".encode()),
        (["-f", f"root@{HOSTNAME}"], b"\nx\n"),
        ([], f"From: nobody@{HOSTNAME} <ceo@progs.test>\n\nx\n".encode()),
    ],
)
def test_no_program_sends_in_anothers_name(stack: Stack, arguments: list[str], message: bytes) -> None:
    if not [each for each in stack.do("GET", "/domains?limit=200") if each["name"] == "progs.test"]:
        stack.make_domain("progs.test")
    code, said = sendmail(stack, *arguments, "friend@remote.test", message=message)
    assert code == 77, said
    assert "may not send as" in said
    assert said.count("\n") == 1


def test_two_authors_a_broken_from_and_no_recipient_are_refused(stack: Stack) -> None:
    own = f"nobody@{HOSTNAME}"
    for message in (f"From: {own}, ceo@x.test\n\n", f"From: {own}\nFrom: ceo@x.test\n\n", "From: ceo\n\n"):
        assert sendmail(stack, "friend@remote.test", message=message.encode())[0] == 65
    assert sendmail(stack, "-t", message=b"Subject: x\n\nx\n")[0] == 64
    assert sendmail(stack)[0] == 64
    assert sendmail(stack, "-f", "a@b.test\nBcc: x@y.test", "friend@remote.test")[0] == 64
    assert sendmail(stack, "x y@remote.test")[0] == 65


def test_the_key_file_lets_a_program_send_as_the_domain(stack: Stack) -> None:
    domain = stack.make_domain("keyed.test")
    stack.make_domain("unkeyed.test")
    key = stack.do("POST", "/api-keys", {"name": "shop", "scoped_domain_ids": [domain]})
    file = new_directory("mailkeep-key-", 0o755) / "key"
    file.write_text(key["key"] + "\n")
    to = "friend+keyed@remote.test"
    message = f"From: Shop <shop@keyed.test>\nTo: {to}\n\nHello.\n".encode()
    assert sendmail(stack, "-t", "--key-file", str(file), message=message) == (0, "")
    (mail,) = stack.arrived(to)
    assert b"d=keyed.test" in mail
    assert row(stack, to)["source"] == "api"
    other = message.replace(b"keyed.test>", b"unkeyed.test>")
    assert sendmail(stack, "-t", "--key-file", str(file), message=other)[0] == 77
    boss = {"email": "boss@keyed.test", "password": "correct horse battery", "role": "super_admin"}
    stack.do("POST", "/admins", boss)
    mate = {"email": "mate@keyed.test", "password": PASSWORD, "role": "domain_admin", "domain_ids": [domain]}
    stack.do("POST", "/admins", mate)
    _, _, cookie = stack._call("POST", "/auth/login", {"email": "mate@keyed.test", "password": PASSWORD}, {})
    _, text, _ = stack._call("POST", "/api-keys", {"name": "mate"}, {"Cookie": cookie.partition(";")[0]})
    lower = json.loads(text)["data"]["key"]
    file.write_text(lower + "\n")
    code, said = sendmail(stack, "-t", "--key-file", str(file), message=message.replace(b"shop@", b"boss@"))
    assert (code, "higher rank" in said) == (77, True), said
    assert sendmail(stack, "-t", "--key-file", str(file), message=message)[0] == 0
    file.write_text("svc_wrong\n")
    assert sendmail(stack, "-t", "--key-file", str(file), message=message)[0] == 77


def test_a_program_that_is_suspended_sends_nothing(stack: Stack) -> None:
    code, said = 0, ""
    many = [f"friend+{number}@suspended.remote.test" for number in range(999)]
    for _ in range(2):
        code, said = sendmail(stack, *many, account=WWW)
    assert code in (75, 77), said
    assert sendmail(stack, "friend@remote.test", account=WWW) == (
        77, f"sendmail: Sending is suspended for www-data@{HOSTNAME}. An administrator can lift that.\n",
    )  # fmt: skip
    (found,) = [each for each in stack.do("GET", "/abuse/suspensions") if each["address"] == f"www-data@{HOSTNAME}"]
    assert found["domain_id"] is None
    stack.do("DELETE", f"/abuse/suspensions/{found['id']}")
    assert sendmail(stack, "friend+lifted@remote.test", account=WWW)[0] == 0


def test_long_lines_and_large_messages_are_handled(stack: Stack) -> None:
    to = "friend+long@remote.test"
    line = b"\xc3\xa4" * 3000
    assert sendmail(stack, to, message=b"Subject: long\n\n" + line + b"\n.\nnot sent\n") == (0, "")
    (mail,) = stack.arrived(to)
    assert max(map(len, mail.split(b"\r\n"))) <= 998
    assert b"Content-Transfer-Encoding: quoted-printable" in mail
    assert b"not sent" not in mail
    code, said = sendmail(stack, to, message=b"\n" + b"x" * 70 + b"\n" + (b"y" * 900 + b"\n") * 60_000)
    assert (code, "larger" in said or "bytes" in said) == (69, True), said


def test_external_alias_destinations_count_for_a_program_too(stack: Stack) -> None:
    domain = stack.make_domain("amplify.test")
    to = [f"friend+amplified{number}@remote.test" for number in range(10)]
    for source in (f"team{number}" for number in range(11)):
        body = {
            "domain_id": domain,
            "source_local_part": source,
            "destination": ", ".join(to).replace("+", f"+{source}"),
        }
        stack.do("POST", "/aliases", body)
    code, said = sendmail(stack, *(f"team{number}@amplify.test" for number in range(11)))
    assert (code, "limits.external_expansion" in said) == (69, True), said


def test_mail_for_an_account_reaches_the_administrators(stack: Stack) -> None:
    assert sendmail(stack, "no-such-account")[0] == 67
    code, said = sendmail(stack, "root")
    assert code in (0, 67), said
