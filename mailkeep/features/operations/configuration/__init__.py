"""Configuration: read and change the settings, list their revisions, roll back.

Sources, the later ones win: defaults, `mailkeep.toml`, the environment, the database (what `PATCH /config` stores),
command-line options. A change is checked as a whole, with the settings of all sources. It is refused for settings that
the file, the environment or an option sets, and for those that are never stored: `http.*`, `database.*`, and settings
that name files, so that no change locks administrators out or makes the server read another file.

Settings with effect `none` apply to every process at once; the others with the next apply or start, when the services
that are named with them are reloaded or restarted (`mailkeep/settings/effects`). A dry run returns the plan.
"""
