"""When background jobs last succeeded, over all processes, for the health.

Each process notes it in memory (`jobs/runs`), writes it every half minute, and deletes its own when it ends. An
instance that starts deletes those of processes that were killed: settings and version decide which jobs there are.
"""
