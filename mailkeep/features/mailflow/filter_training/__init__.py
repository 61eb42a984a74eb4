"""Training of the filter: what owners move to Junk is spam, what they move out of it is not (ham).

Rspamd's Bayes classifier learns it, one for the whole server; it gives no score before it has learned 200 messages of
each kind. Dovecot passes a moved message to the process `learner`, which answers at once and teaches later (`jobs`); a
release from Junk teaches through `service.teach`. A mailbox teaches only if its effective `learn` is on, and at most
100 lessons in an hour, so that one owner can't change the verdicts of all. The embedded profile has no filter: nothing
learns.
"""
