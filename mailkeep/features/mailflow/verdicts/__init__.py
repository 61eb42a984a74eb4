"""The decisions about mail of other servers while it is received: at RCPT, and at the end of DATA (full profile).

Each recipient leads to mailboxes and external copies. `mailflow/filtering` decides for each mailbox, and for the
external copies of the domain of the recipient's address (of its target, if it is an alias domain). A reply to the
client is for all of them, so a message is refused only if each destination refuses it; what one of several refuses is
decided at delivery (`mailflow/local_delivery`).

**RCPT** (Postfix's policy service, restriction class `denying`): only deny entries decide, by envelope sender and
network. Postfix asks only about recipients to whom a deny entry may apply. `postmaster` and `abuse` are never refused
by a list (RFC 5321 §4.5.1, RFC 2142): a deny entry puts their mail into Junk. Nothing is refused or deferred because
this check does not work. The entry that refuses is stored before the reply; when Postfix's log shows the refusal, the
recipient's row in the history gets it.

**End of DATA** (the process `keys`, for Rspamd): 554 if each destination refuses, 451 if one of them can't be decided
because of a DNS failure and the others refuse. External copies are refused from the junk score of their domain on.
Otherwise the message is accepted, and `spam` says that not each copy is for an inbox or may be forwarded: Rspamd then
diverts all copies to the LMTP agent.

A refused message has no queue file. What is known of it is stored before the reply. When Postfix's log shows the
refusal (`mailflow/delivery_status`), each recipient gets a row in the history and a `mail.spam`, within the limit for
refusals of one client. What the log never shows (the client went away before the reply) is deleted after a day.
"""
