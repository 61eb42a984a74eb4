"""Invitations: links with which a person sets the password of an account, an administrator's or a mailbox.

A link works once, for 72 hours. An account has at most one: a new one replaces it. It also ends when the account gets a
password in another way, is disabled, or goes to the trash (triggers in `db/functions/invitations.sql`).

The link is the page `/invitation` of the dashboard; the token is behind `#`, which browsers send to no server. It is an
HMAC of the invitation's ID with the master secret. Only its hash is stored: whoever reads the database can't compute
it, and the worker that mails the link derives it again.

The link is shown once to the caller, or mailed by `record/system_mail`. The mail contains no text of users. Mails are
limited: 20 an hour for the accounts of a domain, 3 a day to a recipient.
"""
