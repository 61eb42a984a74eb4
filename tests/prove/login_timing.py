"""`make prove-login-timing`: how long a login with a wrong password takes, known against unknown accounts.

A whole instance over HTTP, each account tried once, in a random order, on a connection with an address of its own, so
that sign-in protection blocks none; Mann-Whitney's U test says whether they can be distinguished. `ARGS=N` for N
accounts of each kind (500).
"""

from __future__ import annotations

import http.client
import json
import random
import shutil
import sys
import time
from statistics import median
from urllib.parse import urlsplit

from tests.prove.circumstances import circumstances
from tests.support import instance as instances
from tests.support.mann_whitney import mann_whitney
from tests.support.scratch import new_directory

EMAIL, PASSWORD = "admin@example.test", "correct horse battery staple"
SETTINGS = {
    "MAILKEEP_LIMITS__LOGIN_PER_SECOND": "0",
    "MAILKEEP_LIMITS__REQUESTS_PER_SECOND": "0",
    "MAILKEEP_ADMIN_EMAIL": EMAIL,
    "MAILKEEP_ADMIN_PASSWORD": PASSWORD,
}
DOUBT = 0.001


class Caller:
    """One kept connection from an address."""

    def __init__(self, url: str, address: str = "127.0.0.1") -> None:
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30, source_address=(address, 0))
        self.connection.connect()
        self.headers = {"content-type": "application/json"}

    def post(self, path: str, body: object) -> http.client.HTTPResponse:
        self.connection.request("POST", f"/api/v1{path}", json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        answer.read()
        return answer


def prove(url: str, each: int) -> bool:
    """Make the accounts, try them all, print the result; returns whether they can't be distinguished."""
    caller = Caller(url)
    cookie = caller.post("/auth/login", {"email": EMAIL, "password": PASSWORD}).headers["set-cookie"]
    caller.headers["cookie"] = cookie.partition(";")[0]
    known, unknown = ([f"{kind}{number}@example.test" for number in range(each)] for kind in ("known", "other"))
    for email in known:
        assert caller.post("/admins", {"email": email, "password": PASSWORD}).status == 201
    order = [*known, *unknown]
    random.shuffle(order)
    seconds: dict[str, float] = {}
    for number, email in enumerate([*(f"warm{number}@example.test" for number in range(20)), *order]):
        guesser = Caller(url, f"127.1.{number // 250}.{number % 250 + 1}")
        start = time.perf_counter()
        answer = guesser.post("/auth/login", {"email": email, "password": "not this one"})
        seconds[email] = time.perf_counter() - start
        guesser.connection.close()
        assert answer.status == 401
    for name, emails in (("known", known), ("unknown", unknown)):
        print(f"{name:8} {each} logins, median {median(seconds[email] for email in emails) * 1e3:.3f} ms")
    found = mann_whitney([seconds[email] for email in known], [seconds[email] for email in unknown])
    print(found)
    print("not distinguishable" if found.p > DOUBT else f"distinguishable: p below {DOUBT}")
    return found.p > DOUBT


def main() -> int:
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print(circumstances("a login with a wrong password, known against unknown accounts"), flush=True)
    folder = new_directory("mailkeep-timing-", 0o755)
    (folder / "data").mkdir()
    (folder / "data").chmod(0o711)  # so that the database's account can enter
    try:
        running = instances.start(folder / "data", SETTINGS)
        try:
            return 0 if prove(running.http, each) else 1
        finally:
            assert running.stop() == 0, running.log
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
