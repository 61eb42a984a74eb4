"""Decides what happens to incoming mail: inbox, Junk or refused, for each mailbox.

The filter (Rspamd) gives a score; `rules.decide` decides by thresholds and by allow and deny lists. It is asked at
RCPT, at the end of DATA and at delivery, and reads the database each time, so a change applies to the next message.
Thresholds and lists exist for the server, a domain and a mailbox; the narrower one has priority, except for enforced
deny entries. An allow entry applies only if the author or sender is proved: anybody can write any address into From.
"""
