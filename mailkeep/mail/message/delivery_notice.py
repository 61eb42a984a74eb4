"""Composes a delivery status notification (RFC 3464) for a message of the Sieve spool that Postfix rejected."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email.message import Message
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, make_msgid

from mailkeep.mail.dovecot.sieve_spool import SpooledMessage
from mailkeep.mail.smtp.reply import SmtpReply

_MAX_HEAD = 64 * 1024


def compose(spooled: SpooledMessage, replies: Mapping[str, SmtpReply], hostname: str, at: datetime) -> bytes:
    """Compose the notification to the sender, from the postmaster of the sender's domain.

    `replies`: Postfix's rejection for each rejected recipient. Reads the message's file: call it in a thread.
    """
    notice = MIMEMultipart("report")
    notice.set_param("report-type", "delivery-status")
    notice["From"] = f"Mail Delivery System <postmaster@{spooled.sender.rpartition('@')[2]}>"
    notice["To"] = spooled.sender
    notice["Subject"] = "Undelivered Mail Returned to Sender"
    notice["Date"] = format_datetime(at)
    notice["Message-ID"] = make_msgid(domain=hostname)
    notice["Auto-Submitted"] = "auto-replied"
    reasons = "\n".join(f"<{recipient}>: {reply}" for recipient, reply in replies.items())
    text = f"Your mailbox's filter could not send a message to these recipients:\n\n{reasons}\n"
    notice.attach(MIMEText(text))
    notice.attach(_status_report(replies, hostname))
    notice.attach(MIMEText(_head(spooled).decode("utf-8", "replace"), "rfc822-headers"))
    return notice.as_bytes()


def _status_report(replies: Mapping[str, SmtpReply], hostname: str) -> Message:
    report = Message()
    report["Content-Type"] = "message/delivery-status"
    blocks = [Message()]
    blocks[0]["Reporting-MTA"] = f"dns; {hostname}"
    for recipient, reply in replies.items():
        block = Message()
        block["Final-Recipient"] = f"{'rfc822' if recipient.isascii() else 'utf-8'}; {recipient}"
        block["Action"] = "failed"
        block["Status"] = f"5.{reply.enhanced.partition('.')[2]}" if reply.enhanced else "5.0.0"
        block["Diagnostic-Code"] = "smtp; " + " ".join(str(reply).split())
        blocks.append(block)
    for block in blocks:
        report.attach(block)
    return report


def _head(spooled: SpooledMessage) -> bytes:
    """Return the header of the message, at most `_MAX_HEAD` bytes."""
    content = b""
    for chunk in spooled.content():
        content += chunk
        head, blank, _ = content.partition(b"\r\n\r\n")
        if blank or len(content) > _MAX_HEAD:
            return head[:_MAX_HEAD]
    return content[:_MAX_HEAD]
