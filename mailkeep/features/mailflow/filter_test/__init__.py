"""The test of a decision: what would happen to a message, and why, for the server, a domain or a mailbox.

The steps are those of the decision itself (`mailflow/filtering`). A test counts no hit. It is about one mailbox, or the
external copies of one domain: a message to several is refused only if all refuse it; otherwise it goes to Junk where it
would be refused. Mail to `postmaster` is not refused at RCPT.
"""
