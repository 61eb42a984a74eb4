"""Sending: from a request to the mail transfer agent's 250, and nothing said before it.

An attempt row (Message-ID, recipients, no body) is committed first; then the message is composed on its way to
the socket of a pooled SMTP connection; acceptance, `mail.sent` and the audit row are one transaction after. No
transaction is held while the network is waited for. A batch does each database step once for all its messages and
keeps the connections busy side by side; what is wrong with one message is that message's alone.

Order of checks: fields, INVALID_SENDER, DOMAIN_NOT_FOUND (403), DOMAIN_INACTIVE, FORBIDDEN, API_KEY_DOMAIN_SCOPE,
INVALID_RECIPIENT, INVALID_HEADER, attachments, size, MAILBOX_SUSPENDED, RATE_LIMIT_EXCEEDED, SEND_UNAVAILABLE or
SEND_FAILED. Recipients are counted (see abuse) before the attempt is written; what was certainly not submitted is
taken back.

What was not answered 200 is never sent later on our own account. Where the connection was lost after the final dot,
nobody knows: SEND_FAILED with `details.submitted` = `unknown`.
"""
