"""Ends open mailbox sessions (IMAP, POP3, ManageSieve, submission) when the access they use is withdrawn or changed.

The database gives the access to each mailbox a version. It increases when the address or the domain's name changes,
when the mailbox or its domain is deactivated, when the mailbox is deleted, and when a protocol is withdrawn. The
mailbox's own password has a version too; it increases when the password changes, or when app passwords are required.
App passwords have a number: a session depends on the password that opened it, not on others. The same transaction
records which sessions must end. The process `node` is notified and ends sessions of
IMAP, POP3 and ManageSieve (`run/runtime/session_ends`); after a restart it ends those that were recorded meanwhile. A
session ends even if its access is restored at once. A session that begins while the access changes either does not
open, because Dovecot compares versions after it has verified the password, or is ended by the second check of `node`.

Postfix owns submission sessions. Their login contains version and number (`mail/postfix/submission_login`), and the
policy service disconnects (421) a session at its next message if they are outdated, or if the app password has expired;
the client must then log in again.

A suspension concerns sending only: sessions stay open, and the policy service refuses the messages.
"""
