"""What happened: the audit log, events, messages and their history, metrics, tasks for the node's agent."""
