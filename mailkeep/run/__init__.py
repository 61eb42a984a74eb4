"""The processes: what is started, in which order, and how it ends. One file a process, and the command line."""
