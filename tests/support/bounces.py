"""Reports about sent mail, as other servers send them."""

from __future__ import annotations

from email.utils import formatdate, make_msgid

CUSTOMER = "customer@elsewhere.test"


def _fields() -> str:
    return f"To: <shop@example.test>\r\nDate: {formatdate()}\r\nMessage-ID: {make_msgid(domain='elsewhere.test')}\r\n"


def dsn(
    recipient: str = CUSTOMER, action: str = "failed", diagnostic: str = "smtp; 550 5.1.1 User unknown",
    status: str = "5.1.1",
) -> bytes:  # fmt: skip
    return (
        f"From: MAILER-DAEMON@elsewhere.test\r\n{_fields()}Subject: Undelivered\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n"
        "--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.elsewhere.test\r\n\r\n"
        f"Final-Recipient: rfc822; {recipient}\r\nAction: {action}\r\nStatus: {status}\r\n"
        f"Remote-MTA: dns; inner.elsewhere.test\r\nDiagnostic-Code: {diagnostic}\r\n\r\n"
        "--b\r\nContent-Type: text/rfc822-headers\r\n\r\nSubject: Your order\r\n\r\n--b--\r\n"
    ).encode()


def arf(*reported: str, kind: str = "abuse") -> bytes:
    named = "".join(f"Original-Rcpt-To: <{each}>\r\n" for each in reported)
    return (
        f"From: fbl@elsewhere.test\r\n{_fields()}Subject: complaint\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/report; report-type=feedback-report; boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/plain\r\n\r\nA user complained.\r\n"
        f"--b\r\nContent-Type: message/feedback-report\r\n\r\nFeedback-Type: {kind}\r\nVersion: 1\r\n{named}\r\n"
        "--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: Your order\r\n\r\nHi\r\n--b--\r\n"
    ).encode()
