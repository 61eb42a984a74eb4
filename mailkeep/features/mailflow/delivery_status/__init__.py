"""Delivery status: the outcomes of sent mail in Postfix's log are written to the history and published as events.

The logs agent reads the log in pieces. Each piece is one transaction: what it says, and the position up to which the
file is read. So a restart, kill -9 or a rotation loses nothing and publishes nothing twice; while the database is away
the log waits. The state of each message in the queue is stored between pieces (`queued_mail`, by queue ID). If the
first lines of sent mail are lost (a truncated log), the history identifies it by the queue ID of a later line.

Mail of the API's port and of submission (587, 465) is tracked. A message of the API is identified by its Message-ID,
which cleanup logs, on that port only. Its attempt was committed before the submission, so the log may be read before
the API has its answer. The line of qmgr is the acceptance (`mail.sent`), the line of cleanup is not. A message of a
mail client gets its row then, with the envelope that the policy server recorded and the header fields that cleanup
logs.

External copies of aliases, forwards and Sieve scripts are tracked too, by the cleanup services behind the ports for
other servers, for Dovecot and for copies that the lmtp agent returns: one message with source `system` for each
forwarding domain, created with the first line about an external recipient (docs/decisions/0019). Bounces that Postfix
generates use neither service.

The outcome of an alias is that of its expanded recipients: decided when the last of them has ended, `delivered` if one
was delivered. When the queue gives a message up, its open recipients have failed, with their last replies; likewise if
an operator deletes it. A message that left the queue without an outcome in the log gets the outcome `unknown` and an
alert (`system.alert`). Until then a deferred recipient has a next attempt, computed as Postfix's queue manager does:
after the time that the message has already waited, within the configured intervals.

Recipients that were refused on the port for other servers are in the history too, at most 60 a minute for one client.
A message to the probe's mailbox (`mail/daemons/probe_mailbox`) is not in the history.
"""
