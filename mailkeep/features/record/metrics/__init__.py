"""Sums of the counters for mail and webhooks, over all processes and restarts, for `/metrics`.

Code counts in memory (`app.counters`) after its transaction is committed. Every five seconds, and once when it ends,
each process adds its counts to the database; `/metrics` reads the sums from there. The sums never decrease, whichever
process ends or is killed, and counting needs no statement of its own. A killed process loses at most five seconds of
counts, never mail.
"""
