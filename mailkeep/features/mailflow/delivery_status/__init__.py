"""Fates: what Postfix's log tells of mail that was sent, brought into the history and told as events.

The logs agent reads the log piece by piece. A piece is one transaction: what was learnt from it, and how far the file
is read. So a restart, kill -9 and a rotation lose nothing and tell nothing twice; where the database is away the log
waits. What is known of a message before its end is kept from piece to piece (`queued_mail`), by its queue id. Sent mail
whose first lines were lost (a log cut short) is followed from the next one about its queue id, by the history.

Followed is what came in by the API's port and by submission (587, 465). A message of the API is found by its
Message-ID, which cleanup logs, on that port only: its attempt was committed before it was submitted, so the log may
run ahead of the answer. qmgr's line is the acceptance (`mail.sent`), cleanup's is none. A message handed in by a mail
client gets its row then, with the envelope that the policy agent noted, and the fields of its header that cleanup logs.

What aliases, forwards and Sieve scripts pass on to the outside is followed too, from the cleanup services behind the
ports for other servers and for Dovecot: a message with source `system` for each domain that passes it on, born with
the first line about a recipient outside (docs/decisions/0019). Bounces that Postfix makes itself come through
neither.

A recipient that is an alias has the fate of its expansions: told when the last has ended, delivered where one was.
When the queue gives a message up, its open recipients have failed, with the last words about them; so have those of a
message that an operator deletes. A message that is neither in the queue nor ended in the log gets the outcome
`unknown` and an alert (`system.alert`): never a guess. Until then what is deferred has its next attempt, as Postfix's
queue manager reckons it: after as long as the message has waited, within the configured pauses.

What was refused on the port for other servers stands in the history, at most 60 rows a minute for one source.
"""
