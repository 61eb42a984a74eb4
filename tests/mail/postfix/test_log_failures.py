"""Lines of Postfix's log that say that a service can't work."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailkeep.mail.postfix.log_failures import ProcessFailures

HEAD = "Nov 20 10:01:02 mx postfix/"
FATAL = "smtp[42]: fatal: parameter smtp_connect_timeout: bad time value: banana"
THROTTLING = "master[7]: warning: /usr/lib/postfix/sbin/smtp: bad command startup -- throttling"


def append(log: Path, *lines: str) -> None:
    with log.open("a") as file:
        file.writelines(f"{HEAD}{line}\n" for line in lines)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    append(path := tmp_path / "mail.log", "master[7]: daemon started -- version 3.7.11, configuration /x")
    return path


def test_new_failures_are_found_once(log: Path):
    append(log, "smtp[41]: fatal: something of before")
    failures = ProcessFailures(log)
    assert failures.read() is None
    append(log, "qmgr[3]: 4jW9T1xz0bz1: removed", THROTTLING, FATAL)
    assert failures.read() == f"postfix/{FATAL}"
    assert failures.read() is None
    append(log, THROTTLING)
    assert failures.read() == f"postfix/{THROTTLING}"
    append(log, "mx/smtpd[5]: panic: x")
    assert failures.read() == "postfix/mx/smtpd[5]: panic: x"


@pytest.mark.parametrize(
    "line",
    [
        "mx/smtpd[5]: warning: non-SMTP command from x[192.0.2.1]: fatal: throttling",
        "mx/smtpd[5]: NOQUEUE: reject: RCPT from x[192.0.2.1]: 550 5.1.1 <postfix/smtp[1]: fatal: x>; from=<a@b.test>",
        "cleanup[6]: 4jW9T1xz0bz1: message-id=< panic: throttling>",
        "cleanup[6]: 4jW9T1xz0bz1: info: header Subject: postfix/smtp[1]: fatal: x from x[192.0.2.1]; from=<a@b.test>",
        "sendmail[9]: fatal: usage: sendmail [options]",
        "postqueue[9]: fatal: Queue report unavailable - mail system is down",
        "smtp[9]: warning: fatal: x",
    ],
)
def test_words_of_clients_and_wrong_calls_of_commands_are_no_failure(log: Path, line: str):
    failures = ProcessFailures(log)
    append(log, line)
    assert failures.read() is None


def test_what_failed_already_with_the_configuration_of_before_is_no_failure(log: Path):
    append(log, FATAL)
    failures = ProcessFailures(log)
    append(log, FATAL.replace("42", "43"))
    assert failures.read() is None
    append(log, "master[7]: reload -- version 3.7.11, configuration /x")
    failures = ProcessFailures(log)  # a reload ended the earlier failure: the same one is new
    append(log, FATAL)
    assert failures.read() == f"postfix/{FATAL}"


def test_the_log_may_be_missing_or_rotated(tmp_path: Path, log: Path):
    missing = tmp_path / "other.log"
    failures = ProcessFailures(missing)
    assert failures.read() is None
    append(missing, FATAL)
    assert failures.read() == f"postfix/{FATAL}"
    failures = ProcessFailures(log)
    append(log, FATAL)
    log.rename(log.with_name("mail.log.20261120"))
    append(log, "qmgr[3]: 4jW9T1xz0bz1: removed")
    assert failures.read() == f"postfix/{FATAL}"
