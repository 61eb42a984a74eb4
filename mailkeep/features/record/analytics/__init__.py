"""Figures about mail: how much was accepted, delivered, deferred, refused and received, how long delivery took, and why
servers refused it.

They are counters of recipients in quarters of an hour, the smallest step in which time zones differ, so that a day of
any zone is a sum of them, and again in whole hours and days, so that few are read. Each domain has counters of its own,
and all domains together have some: no sum depends on the number of messages or of domains. Mail with a tag or of an API
key is counted for it as well.

The counters follow the feed of events: `count` reads the events since its position, adds them up and moves the
position, in one transaction. So each event counts once, whatever is killed, and delivering mail does not wait for
counters. Every request counts what is new before it reads. Refusals at RCPT have no event: they are counted with the
history row.

An outcome counts at the time of its delivery attempt. Mail that was delivered and returned later is both delivered and
bounced. Mail of Mailkeep itself and forwarded mail is not counted, and mail that a smarthost accepted has no outcome.
"""
