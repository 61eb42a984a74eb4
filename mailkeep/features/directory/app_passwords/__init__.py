"""App passwords: passwords of single mail clients, for IMAP, POP3, SMTP (submission) and ManageSieve.

A mailbox has at most 50. Each is limited to some of these protocols, may expire, and is shown once. It opens nothing
else: no API, and no change of the mailbox. It does not depend on the mailbox's own password.

Only its SHA-256 is stored (docs/decisions/0060). Dovecot computes that and queries it with a SQL function
(`mta_app_login`), before the mailbox's own password; PostgreSQL never gets the password. Nothing is cached: a password
that is deleted or has expired opens no session any more, and its open sessions end (`directory/mailbox_sessions`);
those of other passwords continue. Expired passwords are listed, and count, until they are deleted. While a mailbox or
its domain is inactive, or does not allow a protocol, app passwords do not work either.

`require_app_passwords` of a mailbox, else of its domain, else the setting `auth.require_app_passwords`, decides whether
these protocols reject the mailbox's own password. A client can't tell that from a wrong password. The log has the
reason.

Logins are reported after the answer; the last use is written at most once a minute for each client address and protocol
(`directory/mailbox_usage`).

An administrator manages the app passwords of the mailboxes whose passwords they may change.
"""
