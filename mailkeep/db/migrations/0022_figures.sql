-- What a mailbox holds is told by Dovecot, and counted behind it: when it was last told, and when it was last counted, NULL
-- where nobody counted yet, or what was told since may be wrong.
ALTER TABLE mailboxes ADD COLUMN figures_told_at timestamptz, ADD COLUMN figures_counted_at timestamptz;
