"""The command line, a module for each topic."""
