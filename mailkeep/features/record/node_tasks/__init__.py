"""Operations: what the API asks of a node's agent, since it needs root or a daemon's tool.

The API writes a row and waits for its answer, ten seconds at most; the agent of the node claims rows as they come (it
is rung, and looks by itself every second), does them and writes the answer down. What nobody has claimed in time is
withdrawn, so that it is not done after the caller was told that it was not. A row that was claimed by an agent that
died is told as failed: whether it was done is not known, and it is not done twice.
"""
