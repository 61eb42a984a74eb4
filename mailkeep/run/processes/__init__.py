"""Our own processes, one module each."""
