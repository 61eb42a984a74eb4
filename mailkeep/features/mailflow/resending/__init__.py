"""Sends a message again to the recipients that did not get it, and retries deferred deliveries at once.

Resending makes a new message from the kept content, with a new Message-ID and Date and without the old signatures. The
caller's rights, the domain, the limits and the suppressions (also of the message's unsubscribe group) are checked as
for any send, and the new message has the tags, the metadata and the group of the old one, which does not change.

A retry delivers nothing itself: the mail server (Postfix's queue, or the sandbox) attempts the delivery now.
"""
