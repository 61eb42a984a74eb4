"""The policy of backups as one object: when they are made and verified, how long they are kept, and where.

Its fields are the settings `backup.*`: a change is a revision of the settings, and what the file or the environment
sets can't be changed.
"""
