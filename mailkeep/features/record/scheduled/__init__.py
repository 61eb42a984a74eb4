"""Scheduled messages: what waits for its time, with its content.

A scheduled message has its row in the history, with status `scheduled`, and a row here, which is its job. It is stored
in the transaction that makes the call succeed. `due_at` is the time from which a worker (`mailflow/scheduling`) may
claim it. Whoever changes a message locks its row here first: a cancellation and the start of its submission
can't both succeed.

| `due_at` | status in the history | |
|---|---|---|
| set | `scheduled` | it waits, or a worker has claimed it until then (lease); it can be changed and cancelled |
| NULL | `submitting`, then as any outbound message | the row stays until the result is known, and is then deleted |

The content is the whole request, sealed with the master secret, in parts of at most 1 MiB: in the database, so that it
is durable and visible in the same moment as its row, and belongs to the same backup (docs/decisions/0081).
"""
