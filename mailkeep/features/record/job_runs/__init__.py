"""When background jobs last succeeded, over all processes, for the health.

Each process notes it in memory (`jobs/runs`) and writes it every half minute. An instance that starts deletes the old
ones, since its settings and its version decide which jobs there are.
"""
