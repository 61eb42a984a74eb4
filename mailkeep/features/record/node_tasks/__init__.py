"""Node tasks: work that the API requests from the process `node`, because it needs root or a tool of a daemon.

The API inserts a row and waits for the result, at most ten seconds. The process `node` is notified with the commit (and
polls every second); it claims the task, runs it and stores the result. A task that is not claimed in time is withdrawn,
so that it does not run after the caller has received an error. If the process dies while it runs a task, the task is
marked as failed: whether it was done is unknown, and it is not repeated.
"""
