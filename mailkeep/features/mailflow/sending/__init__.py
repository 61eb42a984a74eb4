"""Sending: `/send` and `/send/batch`, and the recording of outbound messages for sendmail.

The attempt (Message-ID, recipients, no body) is committed first. The message is then composed while it is written to a
pooled SMTP connection. Acceptance, `mail.sent` and the audit entry are one transaction afterwards; no transaction is
open during network I/O. The API answers 200 only after the MTA's 250. A batch takes each database step once for all
its messages and uses the connections in parallel; an error in one message affects that message only.

Order of checks: fields, INVALID_SENDER, DOMAIN_NOT_FOUND (403), DOMAIN_INACTIVE, FORBIDDEN, API_KEY_DOMAIN_SCOPE, the
template (`mailflow/templates`: NOT_FOUND, FORBIDDEN, API_KEY_DOMAIN_SCOPE, CONFLICT, INVALID_FIELD), INVALID_RECIPIENT,
INVALID_HEADER, attachments, size, MAILBOX_SUSPENDED, RATE_LIMIT_EXCEEDED, SEND_UNAVAILABLE or SEND_FAILED.
Recipients are counted (`mailflow/abuse`) with the attempt, and uncounted if the message was certainly not submitted.

In the full profile a submission that fails before its content is repeated for up to 10 seconds per request, because
Postfix or its milter may be restarting; not if an administrator has stopped Postfix.

A message that was not answered with 200 is never retried by the server. If the connection is lost after the final dot,
the result is not known: SEND_FAILED with `details.submitted` = `unknown`.
"""
