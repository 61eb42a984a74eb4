"""The filter settings of the server as an object beside those of domains and mailboxes (`mailflow/filtering`).

They are the settings `filter.spam_score`, `filter.reject_score`, `filter.digest` and `filter.learn`: a change is a
revision of the settings, and what the file or the environment sets can't be changed.
"""
