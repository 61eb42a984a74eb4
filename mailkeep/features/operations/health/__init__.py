"""Health checks, and the version of the server.

`GET /health` checks each service: the database (it answers and has the schema of this version), outbound mail, the
disk; in the full profile also each daemon and agent, as their supervisor reports them. Without the database the server
is `down` (503); if another service fails it is `degraded`. The response takes at most 2 seconds, even if a service
hangs. `/healthz` only says that the process is alive, `/readyz` that it can serve requests: for supervisors and load
balancers, also on the internal listener.

`GET /health/details` (super_admin) explains each component: status, since when, advice, and the measured values. What
only root can see (the queue, the certificate) comes from the process `node`, in a file (`mail/daemons/node_report`).
"""
