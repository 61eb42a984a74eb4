"""Mailbox usage: how much mail a mailbox has, its last login and the last use of its app passwords, in the full profile
(docs/decisions/0020, 0025).

Three sources are combined:

- `ArrivalRecorder` adds each message that the lmtp process delivers.
- `UsageRecorder` writes what Dovecot reports: the usage after each change by a session, and each login.
- `UsageCounter` has Dovecot count the mailboxes afterwards, because reports can be wrong or lost: a Sieve script may
  discard a delivery, the reports of two sessions may overtake each other, and a report is lost while the process
  `usage` does not run.

Reports never block a delivery or a session: they are kept in memory and written once a second.
"""
