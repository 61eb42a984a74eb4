"""What starts, watches and serves the processes: supervisor, prefork, privileges, sockets, HTTP listeners."""
