"""Mailbox usage: how much mail a mailbox and its folders have, warnings of full mailboxes, the last login and the last
use of app passwords.

In the full profile three sources are combined (docs/decisions/0020, 0025):

- `ArrivalRecorder` adds each message that the lmtp process delivers.
- `UsageRecorder` writes what Dovecot reports: the usage after each change by a session, and each login
  (`directory/login_history`).
- `UsageCounter` has Dovecot count the mailboxes afterwards, because reports can be wrong or lost: a Sieve script may
  discard a delivery, the reports of two sessions may overtake each other, and a report is lost while the process
  `usage` does not run.

`warn_owners` acts on what they write, in both profiles: a mailbox whose usage reaches 80 or 95 percent of its quota
emits `mailbox.quota`, and its owner gets mail, once until the usage is five percent lower again. A trigger marks such
mailboxes, so that no way of writing the usage can miss one.

Folders and recalculation: Dovecot is asked through the process `node`; in the embedded profile the only folder is the
Maildir itself.

Reports never block a delivery or a session: they are kept in memory and written once a second.
"""
