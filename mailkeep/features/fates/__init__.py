"""Fates: what Postfix's log tells of mail that was sent, brought into the history and told as events.

The logs agent reads the log piece by piece. A piece is one transaction: what was learnt from it, and how far the file
is read. So a restart, kill -9 and a rotation lose nothing and tell nothing twice; where the database is away the log
waits. What is known of a message before its end is kept from piece to piece (`queued_mail`), by its queue id.

Followed is what came in by the API's port and by submission (587, 465). A message of the API is found by its
Message-ID, which cleanup logs, on that port only: its attempt was committed before it was submitted, so the log may
run ahead of the answer. qmgr's line is the acceptance (`mail.sent`), cleanup's is none. A message handed in by a mail
client gets its row then, with the envelope that the policy agent noted, and the fields of its header that cleanup logs.

A recipient that is an alias has the fate of its expansions: told when the last has ended, delivered where one was.
When the queue gives a message up, its open recipients have failed, with the last words about them; so have those of a
message that an operator deletes. A message that is neither in the queue nor ended in the log gets the outcome `unknown`
and an alert (`system.alert`): never a guess.

What was refused on the port for other servers stands in the history, at most 60 rows a minute for one source.
"""
