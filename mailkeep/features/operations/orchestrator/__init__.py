"""Orchestrator: the state of the daemons and processes, edits of their configuration by hand, and operations on them.

An operation (start, stop, restart, reload of a service) is performed by the process `node`, which asks the supervisor;
at most one is running. What the API itself needs can't be stopped. The embedded profile has one process, which is
described.
"""
