"""The first start after a full restore, and what it holds.

The backup may be older than what has happened: mail that was queued in it may have been sent since, and a credential
that it accepts may have been withdrawn. So the first start ends all sessions, unfinished sign-ins and invitations, and
holds scheduled messages, pending webhook deliveries and mail of Mailkeep itself until they are released. The messages
in Postfix's queue are on hold there already, and the spool of Sieve and what local programs have submitted are put
aside (`run/runtime/full_restore`). What is scheduled or emitted afterwards is not held.

A held row keeps its state and its time; whoever claims rows skips it. Cancelling a scheduled message and replaying a
delivery work as always.
"""
