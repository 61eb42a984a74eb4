"""External copies of a message whose copies all go to the lmtp agent, because some are for Junk.

The domain of the recipient (before aliases) decides, by its thresholds and lists: spam is not forwarded, and
has a row in the history (rejected) with its `mail.spam`. Other copies return to Postfix, on a socket and cleanup
service of their own: not filtered, counted or signed again, with the rewritten sender (SRS) that they have. In the
history they belong to the domain whose alias or forward names the address, like other forwarded mail.

Before Postfix gets a copy, its row is committed, with a marker for this attempt. Postfix gets the marker in a header
field, logs it, and removes it. So after an attempt with an unknown outcome (the agent was killed) the log decides: if
it shows that the message with the marker is in the queue, the copy has been returned. If it is read beyond the end of
the attempt and does not, the copy is returned again, with a new marker. Until then the agent's reply is 451.
"""
