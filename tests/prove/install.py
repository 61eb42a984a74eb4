"""`make prove-install`: a machine with nothing prepared becomes a mail server, and how long each step takes.

A bare Debian 12 is made in a private folder (debootstrap), and entered with processes and mounts of its own. What the
README names is installed there, the project cloned and set up, then `mailkeep install` and `mailkeep up --profile
full`, on its usual ports in a network of its own; a message is sent to itself and read by IMAP; a clean stop. Needs
root, debootstrap and Debian's packages; how this machine reaches those and the registries is copied in and shown
nowhere. All that was mounted or started ends with the proof, however that ends.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import imaplib
import json
import os
import platform
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SUITE = "bookworm"
ROOT = Path(__file__).parents[2]
HOME, DATA = "/opt/mailkeep", "/var/lib/mailkeep"
MAILKEEP = f"{HOME}/.venv/bin/mailkeep"
_STEP_SECONDS = 1800
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_AUTHORITIES = "/etc/machine-authorities.pem"
# Environment variables by which Python, pip, npm and git know this machine's certificate authorities and package
# sources.
_CONFIGURED = ("/etc/pip.conf", "/etc/npmrc", "/root/.pip/pip.conf", "/root/.config/pip/pip.conf", "/root/.npmrc")
# Nobody there has `ip`: the network's own loopback is brought up by hand (SIOCSIFFLAGS, IFF_UP).
_LOOPBACK = (
    "import fcntl,os,socket,struct,sys;"
    "fcntl.ioctl(socket.socket(),0x8914,struct.pack('16sH14x',b'lo',1));"
    "os.execv(sys.argv[1],sys.argv[1:])"
)
# The first process of the machine: mounts that are its own, and burials of those whom nobody waits for.
_INIT = """
mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" && mount -t tmpfs tmpfs "$0/run" &&
exec chroot "$0" sh -c 'while :; do sleep 1; done'
"""
OURS = ("api", "usage", "keys", "lmtp", "logs", "milter", "policy", "worker")


@dataclass
class Machine:
    """A bare machine: its tree, and the process whose namespaces it lives in."""

    tree: Path
    environ: Mapping[str, str]
    init: subprocess.Popen[bytes] | None = None
    took: list[tuple[str, float]] = field(default_factory=list[tuple[str, float]])

    def argv(self, command: Sequence[str]) -> list[str]:
        """A command within."""
        assert self.init
        target = ["nsenter", "--target", str(inner_pid(self.init.pid)), "--mount", "--pid", "--root", "--wd"]
        return [*target, "env", "-i", *(f"{name}={value}" for name, value in self.environ.items()), *command]

    def run(self, what: str, *command: str) -> str:
        """A step, reported with its time; returns its output. Ends the proof where it fails."""
        return self.timed(what, self.argv(command))

    def timed(self, what: str, argv: Sequence[str]) -> str:
        """The same for a command of this machine's own."""
        began = time.monotonic()
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
            timeout=_STEP_SECONDS,
        )  # fmt: skip
        if done.returncode != 0:
            # To the terminal alone: it may name what is no matter of a proof.
            sys.stderr.write(f"{what}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}\n")
            raise SystemExit(f"{what}: status {done.returncode}")
        self.tell(what, time.monotonic() - began)
        return done.stdout

    def tell(self, what: str, seconds: float) -> None:
        """A line of the proof."""
        self.took.append((what, seconds))
        print(f"  {what:58} {seconds:6.1f} s", flush=True)


def inner_pid(unshare: int) -> int:
    """The first process of the namespace that `unshare` has forked."""
    return int(Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split()[0])


def mirror() -> str:
    """Where this machine has Debian's packages from: of one-line sources and of deb822's, the first that has them."""
    texts = [path.read_text() for path in (Path("/etc/apt/sources.list"), *_sources()) if path.exists()]
    for text in texts:
        for found in re.finditer(r"^(?:deb (?:\[[^]]*\] )?|URIs:\s*)(\S+?/debian)/?(?:\s|$)", text, re.MULTILINE):
            return found[1]
    raise SystemExit("apt is not configured for Debian's packages here.")


def _sources() -> list[Path]:
    folder = Path("/etc/apt/sources.list.d")
    return [
        path for path in sorted(folder.glob("*")) if re.search(r"^(deb|URIs:).*/debian", path.read_text(), re.MULTILINE)
    ]


def environment() -> dict[str, str]:
    """What a shell has there, and the environment of pip and npm with this machine's certificate authorities."""
    found = {"PATH": _PATH, "HOME": "/root", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"}
    found |= {
        name: value for name, value in os.environ.items() if name.startswith("PIP_INDEX") or name.endswith("_proxy")
    }
    names = ("PIP_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "npm_config_cafile")
    return found | ({} if authorities() is None else dict.fromkeys(names, _AUTHORITIES))


def authorities() -> Path | None:
    """The certificates of authorities that this machine trusts."""
    path = Path(os.environ.get("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt"))
    return path if path.exists() else None


def configure(tree: Path) -> None:
    """Copy in how this machine reaches names, packages and registries."""
    shutil.rmtree(tree / "etc/apt/sources.list.d", ignore_errors=True)
    (tree / "etc/apt/sources.list").unlink(missing_ok=True)
    wanted = [Path("/etc/resolv.conf"), Path("/etc/hosts"), *map(Path, _CONFIGURED), *_sources()]
    wanted += [Path("/etc/apt/sources.list"), *Path("/etc/apt/apt.conf.d").glob("99*")]
    for path in wanted:
        if path.exists():
            target = tree / path.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copyfile(path, target)
    if found := authorities():
        shutil.copyfile(found, tree / _AUTHORITIES.lstrip("/"))


@contextlib.contextmanager
def machine() -> Generator[Machine]:
    """A bare Debian, newly created; removed at the end with all that runs in it."""
    tree = Path(tempfile.mkdtemp(prefix="mailkeep-bare-"))
    tree.chmod(0o755)
    made = Machine(tree, environment())
    try:
        debootstrap = ["debootstrap", "--variant=minbase", SUITE, str(tree), mirror()]
        made.timed("a bare Debian 12 (debootstrap --variant=minbase)", debootstrap)
        configure(tree)
        spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"]
        made.init = subprocess.Popen([*spaces, "sh", "-c", _INIT, str(tree)], stdin=subprocess.DEVNULL)
        _until(lambda: (tree / "proc").exists() and made.init and _entered(made.init.pid), 10, "the machine")
        yield made
    finally:
        if made.init:
            made.init.send_signal(
                signal.SIGKILL
            )  # its only child goes with it (--kill-child), and all others with that
            made.init.wait(30)
            time.sleep(0.5)
        shutil.rmtree(tree, ignore_errors=True)


def _entered(pid: int) -> bool:
    with contextlib.suppress(OSError, IndexError):
        return (
            Path(f"/proc/{inner_pid(pid)}/root").resolve() != Path("/")
            and Path(f"/proc/{inner_pid(pid)}/comm").read_text() == "sh\n"
        )
    return False


def _until(look: Any, seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not look():
        if time.monotonic() > deadline:
            raise SystemExit(f"{what} did not come within {seconds:g} s")
        time.sleep(0.05)


def prove() -> int:
    """All steps, each reported with its time."""
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        raise SystemExit("This needs root and debootstrap: apt install debootstrap")
    from mailkeep import __version__

    print(f"Mailkeep {__version__}: from a machine with nothing prepared to the first message")
    cores, now = len(os.sched_getaffinity(0)), datetime.now(UTC)
    print(f"{now:%Y-%m-%d %H:%M} UTC; {cores} cores, Linux {platform.release()}, Debian 12 with its Python")
    with machine() as bare:
        bare.run("apt update", "apt-get", "update", "-qq")
        bare.run("apt install make python3-venv git", "apt-get", "install", "-y", "-qq", "make", "python3-venv", "git")
        bare.timed("git clone", ["git", "clone", "-q", "--no-hardlinks", str(ROOT), f"{bare.tree}{HOME}"])
        bare.run("make setup (Python's packages, node, the dashboard)", "make", "-s", "-C", HOME, "setup")
        bare.run("mailkeep install", MAILKEEP, "install")
        began = time.monotonic()
        up = _up(bare)
        bare.tell("mailkeep up --profile full, until it serves", time.monotonic() - began)
        tour = [f"{HOME}/.venv/bin/python", "-m", "tests.prove.install", "--tour"]
        print(bare.timed("a domain, a mailbox, a message to itself, read by IMAP", _beside(bare, up, tour)), end="")
        bare.run("mailkeep down", MAILKEEP, "down", "--data-dir", DATA)
        up.wait(30)
        _second(bare)
        left = [line for line in bare_processes(bare) if "sleep" not in line]
        print(f"  left running: {', '.join(left) or 'nothing'}")
        by_us = sum(seconds for what, seconds in bare.took if what.startswith(("mailkeep install", "mailkeep up")))
        since = sum(seconds for what, seconds in bare.took if not what.startswith("a bare"))
        print(f"  mailkeep install and mailkeep up: {by_us:.1f} s; all since the bare Debian: {since:.1f} s")
        return 1 if left or up.returncode else 0


def _up(bare: Machine) -> subprocess.Popen[bytes]:
    """Start it, in a network of its own; back when it serves."""
    command = ["unshare", "--net", "python3", "-c", _LOOPBACK, MAILKEEP, "up", "--profile", "full", "--data-dir", DATA]
    bare.environ = {**bare.environ, "MAILKEEP_SERVER__HOSTNAME": "mx.bare.test"}
    said = (bare.tree / "root/up.log").open("wb")
    with said:
        up = subprocess.Popen(bare.argv(command), stdin=subprocess.DEVNULL, stdout=said, stderr=said)

    def serves() -> bool:
        if up.poll() is not None:
            raise SystemExit(f"mailkeep up ended: {(bare.tree / 'root/up.log').read_text()[-2000:]}")
        return (bare.tree / DATA.lstrip("/") / "run.json").exists()

    _until(serves, 300, "mailkeep up")
    return up


def _second(bare: Machine) -> None:
    """A second start and stop: the filter's patterns are compiled, the database is there."""
    (bare.tree / DATA.lstrip("/") / "run.json").unlink(missing_ok=True)
    began = time.monotonic()
    again = _up(bare)
    bare.tell("a second start", time.monotonic() - began)
    bare.run("and its stop", MAILKEEP, "down", "--data-dir", DATA)
    again.wait(30)


def _beside(bare: Machine, up: subprocess.Popen[bytes], command: Sequence[str]) -> list[str]:
    """A command in the network that `up` has made itself."""
    inside = next(pid for pid in _descendants(up.pid) if _space(pid, "net") != _space(os.getpid(), "net"))
    entered = bare.argv(["sh", "-c", f'cd {HOME} && exec "$@"', "sh", *command])
    return ["nsenter", "--target", str(inside), "--net", "--", *entered]


def _space(pid: int, kind: str) -> str:
    """The namespace of a process."""
    return str(Path(f"/proc/{pid}/ns/{kind}").readlink())


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            found += map(int, Path(f"/proc/{each}/task/{each}/children").read_text().split())
    return found


def bare_processes(bare: Machine) -> list[str]:
    """What runs there besides its first process, by name."""
    assert bare.init
    space = _space(inner_pid(bare.init.pid), "pid")
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int(path.name) != inner_pid(bare.init.pid) and _space(int(path.name), "pid") == space:
                found.append((path / "comm").read_text().strip())
    return found


def tour() -> int:
    """Within: what the README shows, and as whom our processes run. By the standard library alone."""
    password = Path(DATA, "initial-admin").read_text().strip()
    secret, cookie = "correct horse battery staple", ""

    def call(method: str, path: str, body: object) -> tuple[Any, str]:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", 8080, timeout=30)) as connection:
            headers = {"Content-Type": "application/json", "Cookie": cookie}
            connection.request(method, f"/api/v1{path}", json.dumps(body), headers)
            answer = connection.getresponse()
            data = json.loads(answer.read())
            assert answer.status < 300, data
            return data["data"], answer.getheader("Set-Cookie", "").partition(";")[0]

    _, cookie = call("POST", "/auth/login", {"email": "admin@localhost", "password": password})
    domain, _ = call("POST", "/domains", {"name": "bare.test"})
    mailbox = {"domain_id": domain["id"], "local_part": "alice", "password": secret}
    call("POST", "/mailboxes", mailbox)
    alice = {"email": "alice@bare.test"}
    call("POST", "/send", {"from": alice, "to": [alice], "subject": "To myself", "text_body": "Hello."})
    anybody = ssl.create_default_context()
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    with imaplib.IMAP4_SSL("127.0.0.1", 993, ssl_context=anybody, timeout=30) as imap:
        imap.login("alice@bare.test", secret)

        def there() -> bool:
            imap.select("INBOX")
            return bool(imap.search(None, "SUBJECT", '"To myself"')[1][0])

        _until(there, 60, "the message")
        (found, *_) = imap.fetch("1", "(BODY.PEEK[HEADER])")[1]
    assert isinstance(found, tuple)
    signatures = found[1].count(b"DKIM-Signature:")
    pids = next(Path("/run/mailkeep").iterdir()) / "pids"
    standing = {name: _standing(int((pids / f"{name}.pid").read_text().split()[0])) for name in OURS}
    print(f"    DKIM signatures on it: {signatures}; root or privileges in our processes: "
          f"{', '.join(name for name, bare in standing.items() if not bare) or 'none'}")  # fmt: skip
    return 0 if signatures and all(standing.values()) else 1


def _standing(pid: int) -> bool:
    """Whether this process is nobody special."""
    status = Path(f"/proc/{pid}/status").read_text()
    return "\nCapPrm:\t0000000000000000\n" in status and "\nUid:\t0\t" not in status


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tour", action="store_true", help="within the bare machine")
    return tour() if parser.parse_args().tour else prove()


if __name__ == "__main__":
    sys.exit(main())
