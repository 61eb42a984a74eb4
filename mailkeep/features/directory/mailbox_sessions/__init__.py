"""Open sessions of mailboxes (IMAP, POP3, ManageSieve, submission) end with the access that they were opened with.

The database gives the access to a mailbox a version (migration 0031). It changes with the password, the address and the
domain, and where the mailbox or its domain is deactivated, the mailbox deleted, or a protocol withdrawn. The same
transaction writes which sessions are to end. The node's agent is notified and ends those of IMAP, POP3 and ManageSieve
(`run/runtime/session_ends`); what was written while it was down, it finds when it is back. Restoring the access does
not save a session. A session that begins while the access changes does not open, since Dovecot compares the versions
after it has verified the password, or it is ended by the agent's second look.

Submission sessions belong to Postfix. Their login names the version (`mail/postfix/submission_login`), and the policy
service disconnects (421) a session of another version at its next message; the client then logs in anew, or can't.

A suspension concerns sending alone: sessions stay open, and the policy service refuses the messages.
"""
