"""Mailbox usage: how much a mailbox holds and who logged in last, in the full profile (docs/decisions/0020, 0025).

Three sources are combined:

- `ArrivalRecorder` adds each message that the lmtp process delivers.
- `UsageRecorder` writes what Dovecot reports: the usage after each change by a session, and each login.
- `UsageCounter` has Dovecot count the mailboxes afterwards, because reports can be wrong or lost: Dovecot decides what
  happens to a delivery, two sessions may overtake each other, and a report is lost while nobody listens.

Reports never block a delivery or a session: they are kept in memory and written once a second.
"""
