"""Sums of the counters for mail and webhooks, over all processes and restarts, for `/metrics`.

Each process counts in memory (`app.counters`), after the transaction of what it counts is committed. Every five
seconds, and once when it ends, it adds its counts to the database; `/metrics` reads the sums from there. The sums never
decrease, also if a process ends or is killed. A killed process loses at most five seconds of counts, never mail.
"""
