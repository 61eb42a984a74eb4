"""Configuration of the daemons: paths, rendering of templates, running their tools."""
