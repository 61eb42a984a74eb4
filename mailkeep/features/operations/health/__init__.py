"""Whether the server works, and which one it is.

`GET /health` asks each part: the database (it answers, and has the schema of this version), the way out for mail,
and the disk; in the full profile its supervisor's word for each daemon and agent. Without the database the server is
`down` (503), with another part failing `degraded`. An answer takes at most 2 seconds, whatever hangs. `/healthz` says
only that the process lives, `/readyz` that it can serve: for supervisors and load balancers, also on the internal
listener.

`GET /health/details` (super_admin) explains each component: status, since when, advice, and what it was judged by. What
needs root to be seen (the queue, the certificate) comes from the node's agent by a file (`mail/daemons/node_report`).
"""
