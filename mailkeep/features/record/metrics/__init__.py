"""Tallies: what is counted of mail and webhooks, over all processes and restarts, for the metrics.

Whoever does something counts it (`app.tally`), in memory, once it is committed. Every five seconds a process adds
what it has counted since to the database, and once more when it ends; whoever serves `/metrics` reads the sums from
there. So they never fall, whichever process is ended or killed, and what is done pays no statement for being counted.
A process that is killed takes along what it has not added yet: up to five seconds of counts, never mail.
"""
