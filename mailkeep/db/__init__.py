"""PostgreSQL: the private server, the pool, the migrations and the listings. The only database there is.

A *cluster* is PostgreSQL's data folder. The private server is a child of ours over a bin folder (Debian's,
else a wheel's); it listens on a Unix socket only, knows operating system accounts only (peer, never trust),
and ends when we do. Two roles use it: `mailkeep_owner` owns the database and runs the migrations,
`mailkeep_app` is what the application works as, with what the migrations grant it.
"""
