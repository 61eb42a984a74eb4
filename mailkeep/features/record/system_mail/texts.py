"""The texts of all mail that Mailkeep itself writes."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

from mailkeep.features.record.system_mail.model import SystemMail, SystemMailItem, SystemMailText

ALERT_KINDS = ("alert", "alert_critical", "health_critical")
_SUBJECTS = {
    "settings_changed": "Settings of {host} were changed",
    "admin_changed": "Administrators of {host} were changed",
    "quota_warning": "Your mailbox is almost full",
    "invitation": "Set your password on {host}",
    "dkim_due": "DNS records for new DKIM keys must be published",
    "junk_digest": "New mail in Junk",
    "alert": "Alerts of {host}",
    "alert_critical": "Critical alert of {host}",
    "health_critical": "Critical alert of {host}",
    "restore": "A restore from a backup on {host}",
}
_FIRST_LINES = {
    "settings_changed": "Settings that decide who has access, or what the server connects to, were changed on {host}.",
    "admin_changed": "Accounts of administrators were changed on {host}.",
    "quota_warning": "Your mailbox on {host} is almost full. When it is full, new mail is not accepted.",
    "invitation": "An administrator of the mail server {host} invites you to set the password of your account there.",
    "dkim_due": "The DKIM keys of a mail domain on {host} are to be replaced. Publish these DNS records first.",
    "junk_digest": "Mail for you that the spam filter of {host} has filed in Junk or refused since the last digest.",
    "alert": "What has changed about problems on {host}.",
    "alert_critical": "Something on {host} needs attention now.",
    "health_critical": "Something on {host} needs attention now.",
    "restore": "Data was restored from a backup on {host}, or somebody asked for it.",
}
_ALERT_ADVICE = (
    "The dashboard shows all alerts. Acknowledge one that you look after, so that nobody is reminded of it. "
    "The settings alerts.* say when this mail is sent, and about what."
)
_ADVICE = {
    "settings_changed": (
        "If you do not expect this, look at the audit log and the history of the settings, and roll the settings back."
    ),
    "admin_changed": (
        "If you do not expect this, look at the audit log, and change the passwords of the accounts that it names."
    ),
    "quota_warning": (
        "Delete mail that you do not need, and empty the trash. If you need more space, ask the administrator of your "
        "mail domain."
    ),
    "invitation": (
        "The link works once. If you do not expect this mail, ignore it, and do not pass the link on: whoever opens it "
        "can set the password."
    ),
    "dkim_due": (
        "Nothing else is to be done: the new keys sign as soon as their records are visible. Until then the old keys "
        "sign. Leave the old records where they are until the list of DKIM keys says that they can be removed."
    ),
    "junk_digest": (
        "Sign in to move a message from Junk to your inbox, or to change how often you get this list. What was refused "
        "is not stored; its sender got an error. Do not trust a message because it names somebody whom you know."
    ),
    "alert": _ALERT_ADVICE,
    "alert_critical": _ALERT_ADVICE,
    "health_critical": _ALERT_ADVICE,
    "restore": (
        "If you do not expect this, look at the audit log: a restore brings back mailboxes and messages that were "
        "deleted."
    ),
}
_TO_SUPER_ADMINS = "This mail was written by the mail server {host} and sent to all its super administrators."
_NO_REPLIES = "This mail was written by the mail server {host}. Nobody reads replies to it."
_SIGNATURES = {
    "settings_changed": _TO_SUPER_ADMINS,
    "admin_changed": _TO_SUPER_ADMINS,
    "quota_warning": _NO_REPLIES,
    "invitation": _NO_REPLIES,
    "dkim_due": _NO_REPLIES,
    "junk_digest": _NO_REPLIES,
    "alert": _NO_REPLIES,
    "alert_critical": _NO_REPLIES,
    "health_critical": _NO_REPLIES,
    "restore": _TO_SUPER_ADMINS,
}
_ALERT_CHANGES = {
    "opened": "New, {severity}",
    "worse": "Has become critical",
    "reminder": "Not in order yet, {severity}",
    "resolved": "In order again",
}
_ACCOUNT_CHANGES = {
    "created": "The account {email} was created with the role {role}.",
    "role": "The role of the account {email} was changed from {old_role} to {role}.",
    "email": "The email of the account {old_email} was changed to {email}.",
    "password": "The account {email} got a new password.",
    "disabled": "The account {email} was disabled.",
    "enabled": "The account {email} was enabled again.",
    "invited": "A link to set a new password was created for the account {email}.",
    "deleted": "The account {email} with the role {role} was deleted.",
}


_RESTORES = {
    "requested": "Requested: a restore of {what} from the backup of {backup}.",
    "succeeded": "Done: the restore of {what} from the backup of {backup}.",
    "failed": "Failed: the restore of {what} from the backup of {backup}. A part may have been restored.",
    "cancelled": "Cancelled: the restore of {what} from the backup of {backup}. A part may have been restored.",
    "started": "Restored: {what} from the backup of {backup}. All sessions have ended, and what was queued is on hold.",
}
_RULES = {
    "virus": "it contains a virus",
    "encrypted": "it contains an encrypted file, which can't be checked",
    "no_verdict": "it could not be checked",
}
_MAX_FOREIGN_TEXT = 60
# What mail programs turn into links: what has a scheme, an @, or a dot between letters or digits.
_LINK = re.compile(r"(?<=\w)\.(?=\w)|(?<=[^\W\d_]):(?=\S)|@")
_HARMLESS = {".": "[.]", ":": "[:]", "@": "[at]"}


def write(mail: SystemMail, host: str, link: str = "") -> SystemMailText:
    """The text of a mail of the server with this host name; `link`: that of an invitation, of the page of owners, or of
    the dashboard.
    """
    lines = [_FIRST_LINES[mail.kind].format(host=host)]
    if mail.kind == "quota_warning":
        lines += _quota_lines(mail)
    elif mail.kind == "dkim_due":
        lines += _record_lines(mail)
    elif mail.kind == "junk_digest":
        lines += [*_junk_lines(mail), "", link]
    elif mail.kind in ALERT_KINDS:
        lines += [*_alert_lines(mail), "", link]
    elif mail.kind == "invitation":
        lines += ["", f"Open this link until {_format_time(mail.items[-1]['expires_at'])}:", "", link]
    else:
        lines += _change_lines(mail)
    lines += ["", _ADVICE[mail.kind], "", "--", _SIGNATURES[mail.kind].format(host=host)]
    subject = _SUBJECTS[mail.kind].format(host=host)
    if mail.kind in ALERT_KINDS:
        subject += _alert_subjects(mail)
    return SystemMailText(subject, "\n".join(lines) + "\n")


def alert_screen(mail: SystemMail) -> str:
    """The path of the dashboard's screen with the alerts of a mail: the overview if they are on several."""
    areas = {each["kind"].startswith("health_") for item in mail.items for each in item["alerts"]}
    return {frozenset({True}): "/server-health", frozenset({False}): "/alerts"}.get(frozenset(areas), "/")


def _alert_subjects(mail: SystemMail) -> str:
    """The end of the subject: what the first alert is about, and how many others there are."""
    subjects = list(dict.fromkeys(each["subject"] for item in mail.items for each in item["alerts"]))
    if not subjects:
        return ""
    return f": {subjects[0]}" + (f" and {len(subjects) - 1} more" if len(subjects) > 1 else "")


def _change_lines(mail: SystemMail) -> list[str]:
    lines: list[str] = []
    for item in mail.items:
        lines += ["", *_WHAT_CHANGED[mail.kind](item), f"At {item['at']}, by {_actor(item)}."]
    if (more := mail.item_count - len(mail.items)) > 0:
        changes = "change is" if more == 1 else "changes are"
        lines += ["", f"{more} more {changes} not listed here. The audit log has all of them."]
    return lines


def _alert_lines(mail: SystemMail) -> list[str]:
    """Each alert: what has changed, about what, why, and since when."""
    lines: list[str] = []
    more = mail.item_count - len(mail.items)
    for item in mail.items:
        for each in item["alerts"]:
            heading = _ALERT_CHANGES[each["change"]].format(severity=each["severity"])
            reason = " ".join(each["reason"].split())
            lines += ["", f"{heading}: {each['subject']} ({each['kind']})", f"  {reason}"]
            lines += [f"  Since {each['since']}."]
        more += item["more"]
    return [*lines, "", f"More that are not listed here: {more}."] if more > 0 else lines


def _quota_lines(mail: SystemMail) -> list[str]:
    """The newest warning only: earlier ones are outdated."""
    item = mail.items[-1]
    used, quota = _format_size(item["used_bytes"]), _format_size(item["quota_bytes"])
    return ["", f"{item['address']}: {used} of {quota} are used, more than {item['level']} percent."]


def _record_lines(mail: SystemMail) -> list[str]:
    """The records of each domain; a value as one line, which a mail program must not wrap."""
    lines: list[str] = []
    for item in mail.items:
        lines += ["", f"Domain {item['domain']}:"]
        for record in item["records"]:
            lines += ["", f"  Name: {record['name']}", f"  Type: {record['type']}", f"  Value: {record['value']}"]
    if (more := mail.item_count - len(mail.items)) > 0:
        lines += ["", f"Domains that are not listed here: {more}. The list of DKIM keys of each has its records."]
    return lines


def _junk_lines(mail: SystemMail) -> list[str]:
    """Of each message: the sender and the subject, which strangers have written."""
    lines: list[str] = []
    for item in mail.items:
        for heading, result in (("In the folder Junk:", "junk"), ("Refused:", "refused")):
            found = [each for each in item["messages"] if each["result"] == result]
            lines += ["", heading] if found else []
            for each in found:
                sender = defang(each["from"]) or "(no sender)"
                lines += [
                    "",
                    f"  {_format_time(each['at'])}, {sender}",
                    f"  {defang(each['subject']) or '(no subject)'}",
                ]
                lines += [f"  Why: {why}"] if (why := _junk_reason(each)) else []
        if (more := item["more"]) > 0:
            lines += ["", f"And {more} more." if item["is_more_exact"] else f"And {more} or more others."]
    return lines


def _junk_reason(message: SystemMailItem) -> str:
    score = message["score"]
    return _RULES.get(message["rule"] or "", "" if score is None else f"spam score {score:.1f}")


def defang(text: str) -> str:
    """Text that a stranger has written, as one short line in which no mail program finds a link.

    Compatibility characters become common ones (a fullwidth dot is a dot for browsers); what is invisible, changes the
    direction of text or ends a line is removed. At most 60 characters are used: not enough for the test string GTUBE.
    """
    text = "".join(
        " " if character.isspace() else character
        for character in unicodedata.normalize("NFKC", text).replace("\u3002", ".")
        if character.isspace() or unicodedata.category(character)[0] != "C"
    )
    text = " ".join(text.split())
    if len(text) > _MAX_FOREIGN_TEXT:
        text = text[:_MAX_FOREIGN_TEXT].rstrip() + "…"
    return _LINK.sub(lambda match: _HARMLESS[match[0]], text)


def _format_time(text: str) -> str:
    return datetime.fromisoformat(text).strftime("%-d %B %Y, %H:%M UTC")


def _format_size(size: int) -> str:
    for power, unit in ((3, "GB"), (2, "MB"), (1, "kB")):
        if size >= 1024**power:
            return f"{size / 1024**power:.1f} {unit}"
    return f"{size} bytes"


def _settings_lines(item: SystemMailItem) -> list[str]:
    action = {
        "update": "Changed settings:",
        "rollback": "Settings changed by a rollback:",
        "restore": "Settings restored because an apply did not succeed:",
    }
    return [action[item["action"]], *(f"  {key}" for key in item["settings"])]


def _account_lines(item: SystemMailItem) -> list[str]:
    return [_ACCOUNT_CHANGES[change].format(**item) for change in item["changes"]]


def _restore_lines(item: SystemMailItem) -> list[str]:
    lines = [_RESTORES[item["step"]].format(what=item["what"], backup=_format_time(item["backup_at"]))]
    return lines if item["reason"] is None else [*lines, f"Reason: {item['reason']}"]


_WHAT_CHANGED = {"settings_changed": _settings_lines, "admin_changed": _account_lines, "restore": _restore_lines}


def _actor(item: SystemMailItem) -> str:
    label, address = item["actor"], item["ip_address"]
    text = {
        "session": f"{label}",
        "api_key": f"an API key (ID {item['key_id']})",
        "cli": "the command line of the server",
    }.get(item["actor_type"], f"the server ({label})")
    return f"{text}, from the address {address}" if address else text
