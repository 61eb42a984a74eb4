"""Mail programs as people use them, against the full profile: swaks, imaplib, mbsync, sieve-connect, testssl."""

from __future__ import annotations

import contextlib
import email
import email.policy
import json
import os
import re
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.prove.checks import Checks
from tests.stack.harness import ADDRESS, HOSTNAME, PASSWORD, Stack, eventually, letter

TOOLS = {
    "swaks": ["swaks", "--version"],
    "mbsync": ["mbsync", "--version"],
    "sieve-connect": ["sieve-connect", "--version"],
    "testssl": ["testssl", "--version"],
    "postconf": ["postconf", "-d", "-h", "mail_version"],
    "dovecot": ["dovecot", "--version"],
}
DOMAIN = "clients.test"
_SERVER = "198.51.100.7"
ALICE, BOB = f"alice@{DOMAIN}", f"bob@{DOMAIN}"
_TLS_PORTS = {"smtp": 25, "submission": 587, "submissions": 465, "imaps": 993, "pop3s": 995, "sieve": 4190}
_FOLDERS = ["Drafts", "INBOX", "Junk", "Sent", "Trash"]
_SCRIPT = f"""require ["fileinto", "mailbox", "reject", "vacation", "copy"];
if header :contains "Subject" "offer" {{ reject "No offers, please."; stop; }}
if header :contains "Subject" "list" {{ fileinto :create "Lists/Choir"; stop; }}
if header :contains "Subject" "on" {{ redirect :copy "friend+redirect@remote.test"; stop; }}
if header :contains "Subject" "loop" {{ redirect "nobody@{DOMAIN}"; stop; }}
vacation :days 1 :subject "Away" "I am away until Monday.";
"""


def run(command: Sequence[str], content: str = "", seconds: float = 120, **environ: str) -> tuple[int, str]:
    """The exit code of a program and what it wrote."""
    done = subprocess.run(
        command, input=content, capture_output=True, text=True, errors="replace", timeout=seconds, check=False,
        env=os.environ | environ,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def versions() -> list[str]:
    """One line for each program."""
    found: list[str] = []
    for name, command in TOOLS.items():
        text = re.sub(r"\x1b\[[0-9;]*m", "", run(command)[1])
        number = re.search(r"\d+\.\d[\w.]*", text)
        found.append(f"{name} {number.group() if number else 'of an unknown version'}")
    return found


def prove(stack: Stack, checks: Checks, folder: Path) -> None:
    domain = stack.make_domain(DOMAIN)
    for name in ("alice", "bob"):
        stack.make_mailbox(domain, name)
    print("\nswaks")
    _swaks(stack, checks)
    print("\nimaplib")
    _imaplib(stack, checks)
    print("\nmbsync")
    _mbsync(stack, checks, folder)
    print("\nsieve-connect")
    _sieve(stack, checks, folder)
    print("\nA bounce")
    _bounce(stack, checks)
    print("\ntestssl: protocols, cipher suites of all categories, forward secrecy")
    with ThreadPoolExecutor(3) as pool:
        for _ in pool.map(lambda name: _testssl(stack, checks, folder, name), _TLS_PORTS):
            pass


def _swaks(stack: Stack, checks: Checks) -> None:
    def send(what: str, expected: int, code: int, *options: str) -> str:
        base = ["swaks", "--server", ADDRESS, "--helo", "client.test", "--timeout", "30"]
        exit_code, text = run([*base, *options])
        answers = re.findall(r"^<[~*-]*\*?\*?\s+(\d{3} .*)$", text, re.MULTILINE)
        answer = next((each for each in reversed(answers) if each.startswith(str(code))), "")
        answer = re.sub(r"queued as \S+", "queued as …", answer)
        checks.check(what, (exit_code == 0) == (expected == 0) and bool(answer), answer or text[-300:])
        return text

    login = ["--auth", "PLAIN", "--auth-user", ALICE, "--auth-password", PASSWORD, "--from", ALICE]
    outside = ["--from", "someone@remote.test"]
    ports = {name: ["--port", str(number)] for name, number in stack.ports.items()}
    send("port 25, a message from outside", 0, 250, *ports["smtp"], *outside, "--to", ALICE, "--h-Subject", "Port 25")
    send("port 25 with STARTTLS", 0, 250, *ports["smtp"], *outside, "--to", ALICE, "--tls", "--h-Subject", "By TLS")
    send("port 25, an unknown recipient", 1, 550, *ports["smtp"], *outside, "--to", f"nobody@{DOMAIN}")
    send("port 25, a recipient elsewhere (relaying)", 1, 554, *ports["smtp"], *outside, "--to", "x@elsewhere.test")
    friend = ["--to", "friend+swaks@remote.test", "--h-Subject", "From swaks"]
    send("port 587, STARTTLS, AUTH PLAIN", 0, 250, *ports["submission"], "--tls", *login, *friend)
    send("port 465, TLS, AUTH PLAIN", 0, 250, *ports["submissions"], "--tls-on-connect", *login, *friend)
    wrong = [*login[:5], "wrong", *login[6:]]
    send("port 587, a wrong password", 1, 535, *ports["submission"], "--tls", *wrong, *friend)
    send("port 587, no login", 1, 554, *ports["submission"], "--tls", "--from", ALICE, *friend)
    other = [*login[:-1], BOB]
    send("port 587, another mailbox's address as sender", 1, 553, *ports["submission"], "--tls", *other, *friend)
    arrived = eventually(
        lambda: (found := stack.caught("friend+swaks@remote.test"))[1:] and found, what="both messages"
    )
    checks.check(
        "both messages arrive at the other server, signed", all(b"\nDKIM-Signature:" in each for each in arrived)
    )
    found = eventually(lambda: (mail := stack.mail_of(ALICE))[1:] and mail, what="both messages of port 25")
    subjects = sorted(str(email.message_from_bytes(each)["Subject"]) for each in found)
    checks.check(
        "both messages from outside are in the mailbox", subjects == ["By TLS", "Port 25"], ", ".join(subjects)
    )


def _names(lines: Sequence[Any]) -> list[str]:
    return sorted(line.decode().rpartition(' "/" ')[2].strip('"') for line in lines if isinstance(line, bytes))


def _imaplib(stack: Stack, checks: Checks) -> None:
    with stack.imap(ALICE) as client:
        names = _names(client.list()[1])
        checks.check("LIST of a new mailbox: no folder that nobody made", names == _FOLDERS, ", ".join(names))
        names = _names(client.lsub()[1])
        checks.check(
            "LSUB: what mail programs show", set(names) >= {"Junk", "Sent", "Drafts", "Trash"}, ", ".join(names)
        )
        client._simple_command("LIST", "(SPECIAL-USE)", '""', '"*"')
        _, uses = client._untagged_response("OK", [b""], "LIST")
        text = b" ".join(each for each in uses if isinstance(each, bytes)).decode()
        special = sorted(set(re.findall(r"\\(Drafts|Junk|Sent|Trash)", text)))
        checks.check(
            "special-use folders (RFC 6154)", special == ["Drafts", "Junk", "Sent", "Trash"], ", ".join(special)
        )
        client.create("Work/2026")
        client.subscribe("Work/2026")
        client.rename("Work/2026", "Work/2027")
        client.subscribe("Work/2027")
        names = _names(client.list()[1])
        checks.check("CREATE and RENAME of a folder below another", "Work/2027" in names and "Work/2026" not in names)
        client.append("Sent", "\\Seen", "", letter("friend@remote.test", "A copy of mine").encode())
        checks.check("APPEND to Sent", client.select("Sent")[1] == [b"1"])
        client.select("INBOX")
        client.store("1", "+FLAGS", "(\\Flagged $Later)")
        flags = str(client.fetch("1", "(FLAGS)")[1])
        checks.check("flags and keywords stay", "$Later" in flags and "Flagged" in flags)
        checks.check("SEARCH", client.search(None, "SUBJECT", '"Port 25"')[1] != [b""])
        client.copy("1", "Work/2027")
        client.store("1", "+FLAGS", "(\\Deleted)")
        client.expunge()
        checks.check(
            "COPY and EXPUNGE", client.select("Work/2027")[1] == [b"1"] and client.select("INBOX")[1] == [b"1"]
        )
    with stack.smtp() as smtp:
        spam = (
            "From: someone@remote.test\r\nX-Number: 1\r\n\r\nGolden watches, slimming pills and instant loans: "
            "limited offer for clever buyers only. Order tonight, receive double quantity, pay nothing before "
            "Christmas, cancel whenever winning becomes boring.\r\n"
        )
        smtp.sendmail("someone@remote.test", [ALICE], spam)
    junk = eventually(lambda: stack.mail_of(ALICE, "Junk"), what="spam in Junk")
    checks.check("spam is in Junk, not in INBOX", b"X-Spam: Yes" in junk[0] and len(stack.mail_of(ALICE)) == 1)


def _mbsync(stack: Stack, checks: Checks, folder: Path) -> None:
    local = folder / "mbsync"
    local.mkdir()
    config = folder / "mbsyncrc"
    config.write_text(
        f'IMAPAccount a\nHost {ADDRESS}\nPort {stack.ports["imaps"]}\nUser {ALICE}\nPass "{PASSWORD}"\nSSLType IMAPS\n'
        f"SystemCertificates no\nCertificateFile {stack.data_dir}/tls/self-signed.pem\n\n"
        f"IMAPStore far\nAccount a\n\nMaildirStore near\nPath {local}/\nInbox {local}/INBOX\nSubFolders Verbatim\n\n"
        "Channel all\nFar :far:\nNear :near:\nPatterns *\nCreate Both\nRemove Both\nExpunge Both\nSyncState *\n"
    )

    def sync(what: str) -> None:
        code, text = run(["mbsync", "-c", str(config), "all"])
        checks.check(f"mbsync {what}", code == 0, "" if code == 0 else text[-300:])

    def files(name: str) -> list[Path]:
        return [path for part in ("cur", "new") for path in (local / name / part).iterdir()]

    sync("the first time")
    folders = sorted(str(path.parent.relative_to(local)) for path in local.rglob("cur"))
    expected = sorted([*_FOLDERS, "Work/2027"])
    checks.check("folders on this side", [each for each in folders if each != "Work"] == expected, ", ".join(folders))
    (near,) = files("INBOX")
    near.rename(near.parent.parent / "cur" / (near.name.partition(":2,")[0] + ":2,FS"))
    (local / "INBOX" / "new" / "1.made.here").write_text(letter(ALICE, "Made here").replace("\r\n", "\n"))
    with stack.imap(ALICE) as client:
        client.append("Work/2027", "", "", letter(ALICE, "Made there").encode())
        client.create("Made-there")
        client.select("Sent")
        client.store("1", "+FLAGS", "(\\Deleted)")
        client.expunge()
    sync("after changes on both sides")
    with stack.imap(ALICE) as client:
        client.select("INBOX")
        there = client.search(None, "SUBJECT", '"Made here"')[1][0].split()
        flagged = client.search(None, "FLAGGED", "SEEN")[1][0].split()
    checks.check("a message and flags made here are there", (len(there), len(flagged)) == (1, 1))
    here = len(files("Work/2027"))
    checks.check("a message made there is here", here == 2)
    checks.check("a message expunged there is gone here", files("Sent") == [])
    checks.check("a folder made there is here", (local / "Made-there" / "cur").is_dir())
    before = sorted(str(path) for path in local.rglob("*:2,*"))
    sync("with nothing to do")
    checks.check("which changes nothing", before == sorted(str(path) for path in local.rglob("*:2,*")))
    stack.deliver(ALICE, "Arrived meanwhile")
    eventually(lambda: len(stack.mail_of(ALICE)) == 3, what="the message")
    sync("after a delivery")
    checks.check("what was delivered is here, nothing twice", len(files("INBOX")) == 3)


def sieve_connect(stack: Stack, address: str, password: str, *arguments: str) -> tuple[int, str]:
    """The exit code of sieve-connect and what it wrote."""
    command = ["sieve-connect", "--server", ADDRESS, "--port", str(stack.ports["sieve"]), "--user", address]
    return run([*command, "--passwordfd", "0", "--notlsverify", *arguments], password + "\n")


def install(stack: Stack, folder: Path, address: str, script: str) -> None:
    """Upload and activate a script."""
    path = folder / "installed.sieve"
    path.write_text(script)
    for arguments in (("--upload", "--localsieve", str(path)), ("--activate",)):
        code, text = sieve_connect(stack, address, PASSWORD, *arguments, "--remotesieve", "rules")
        assert code == 0, text


def _sieve(stack: Stack, checks: Checks, folder: Path) -> None:
    script = folder / "rules.sieve"
    script.write_text(_SCRIPT)
    broken = folder / "broken.sieve"
    broken.write_text('require "no-such-extension";\nkeep')

    def connect(*arguments: str) -> tuple[int, str]:
        return sieve_connect(stack, BOB, PASSWORD, *arguments)

    code, text = connect("--upload", "--localsieve", str(script), "--remotesieve", "rules")
    checks.check("upload of a script", code == 0, "" if code == 0 else text[-300:])
    code, text = connect("--activate", "--remotesieve", "rules")
    checks.check("activation", code == 0, "" if code == 0 else text[-300:])
    code, text = connect("--list")
    checks.check("list", code == 0 and '"rules"' in text and "ACTIVE" in text, " ".join(text.split())[-80:])
    code, text = connect("--upload", "--localsieve", str(broken), "--remotesieve", "broken")
    checks.check("a script with an error is refused", code != 0)
    copy = folder / "downloaded.sieve"
    code, text = connect("--download", "--remotesieve", "rules", "--localsieve", str(copy))
    checks.check("download gives the same script", code == 0 and copy.read_text().split() == _SCRIPT.split())

    stack.publish("asker.test", "MX", f'@ TXT "v=spf1 ip4:{_SERVER} -all"')  # others get no reply

    def deliver(subject: str) -> str:
        sender = f"asks+{subject.rpartition(' ')[2]}@asker.test"
        with stack.afar(_SERVER) as client:
            client.sendmail(sender, [BOB], letter(BOB, subject, sender=sender))
        return sender

    rejection = stack.arrived(deliver("An offer"))[0]
    vacation = stack.arrived(deliver("Lunch"))[0]
    deliver("Yes, go on")
    redirected = stack.arrived("friend+redirect@remote.test")[0]
    deliver("The list")
    filed = eventually(lambda: stack.mail_of(BOB, "Lists/Choir"), what="the filed message")
    checks.check("fileinto makes the folder and files", len(filed) == 1)
    for what, mail in {"reject": rejection, "vacation": vacation, "redirect": redirected}.items():
        message = email.message_from_bytes(mail, policy=email.policy.default)
        ids = str(message["Message-ID"]).strip()
        good = what == "redirect" or ids.endswith(f"@{HOSTNAME}>")
        sender = envelope_of(stack, mail)
        shown = ids if what == "redirect" else f"<…@{ids.rpartition('@')[2]}"
        facts = f"From: {message['From']}; envelope {sender or '<>'}; Message-ID {shown}"
        checks.check(what, good, re.sub(r"<\d+@client", "<…@client", facts))
    checks.check("reject is from the postmaster of the recipient's domain", b"<postmaster@clients.test>" in rejection)
    checks.check("nothing rejected is kept", not any(b"Subject: An offer" in each for each in stack.mail_of(BOB)))
    deliver("The loop")

    def bounced() -> list[bytes]:
        return [each for each in stack.mail_of(BOB) if b"Undelivered Mail" in each]

    bounce = eventually(bounced, what="the bounce of a redirect")[0]
    checks.check("a redirect to an unknown address bounces to the mailbox", f"nobody@{DOMAIN}".encode() in bounce)
    code, text = connect("--deactivate")
    checks.check("deactivation", code == 0, "" if code == 0 else text[-300:])


def envelope_of(stack: Stack, mail: bytes) -> str:
    """The envelope sender with which the Internet took a message."""
    for path in (stack.folder / "caught").glob("*.eml"):
        if path.read_bytes() == mail:
            return str(json.loads(path.with_suffix(".json").read_text())["mail_from"] or "")
    return "unknown"


def _bounce(stack: Stack, checks: Checks) -> None:
    with stack.login(ALICE) as client:
        client.sendmail(ALICE, ["bounce@remote.test"], letter("bounce@remote.test", "Nobody there", sender=ALICE))

    def bounces() -> list[bytes]:
        return [each for each in stack.mail_of(ALICE) if b"Undelivered Mail" in each]

    bounce = eventually(bounces, what="the bounce")[0]
    message = email.message_from_bytes(bounce, policy=email.policy.default)
    report = next((str(part) for part in message.walk() if part.get_content_type() == "message/delivery-status"), "")
    facts = re.findall(r"^(?:Final-Recipient|Status|Diagnostic-Code): .*$", report, re.MULTILINE)
    good = "Status: 5.1.1" in report and "bounce@remote.test" in report and "/" not in "".join(facts)
    checks.check("it returns to the sender", good, f"From: {message['From']}; " + "; ".join(facts))


@contextlib.contextmanager
def managesieve_by_tls(port: int) -> Iterator[int]:
    """A port that leads to ManageSieve's after STARTTLS, which testssl does not know for this protocol."""
    listener = socket.create_server((ADDRESS, 0))

    def serve(client: socket.socket) -> None:
        with client, socket.create_connection((ADDRESS, port), timeout=30) as server, contextlib.suppress(OSError):
            text = b""
            while b"\nOK" not in b"\n" + text:
                text += server.recv(4096)
            server.sendall(b"STARTTLS\r\n")
            server.recv(4096)
            back = threading.Thread(target=copy, args=(server, client), daemon=True)
            back.start()
            copy(client, server)
            back.join(30)

    def copy(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while content := source.recv(65536):
                target.sendall(content)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def _testssl(stack: Stack, checks: Checks, folder: Path, name: str) -> None:
    number = _TLS_PORTS[name]
    result = folder / f"testssl-{name}.json"
    with contextlib.ExitStack() as held:
        port = held.enter_context(managesieve_by_tls(stack.ports[name])) if name == "sieve" else stack.ports[name]
        command = ["testssl", "--quiet", "--warnings", "off", "--color", "0", "--nodns", "none", "-p", "-s", "-f"]
        command += ["--starttls", "smtp"] if name in ("smtp", "submission") else []
        run([*command, "--jsonfile", str(result), f"{ADDRESS}:{port}"], seconds=300)
    found = {each["id"]: each["finding"] for each in json.loads(result.read_text())}
    refused = ("SSLv2", "SSLv3", "TLS1", "TLS1_1", "cipherlist_NULL", "cipherlist_aNULL", "cipherlist_EXPORT")
    refused += ("cipherlist_LOW", "cipherlist_3DES_IDEA", "cipherlist_AVERAGE")
    offered = [each for each in refused if not found.get(each, "missing").startswith("not offered")]
    good = not offered and all(found.get(each, "").startswith("offered") for each in ("TLS1_2", "TLS1_3"))
    summary = f"offered: {offered}" if offered else "TLS 1.2 and 1.3 alone; no anonymous, CBC, export or weak suites"
    suites = " ".join(found.get("FS_ciphers", found.get("PFS_ciphers", "")).split())
    checks.check(f"port {number} ({name})", good, f"{summary}: {suites}")
