-- Since when a mailbox waits to be counted: what was told of it is a guess, or may be wrong; a later time where it is to be
-- tried again then. figures_counted_at stays the time of the last count (until now NULL also marked who was to be counted).
ALTER TABLE mailboxes ADD COLUMN figures_due_at timestamptz;
CREATE INDEX mailboxes_figures_due ON mailboxes (figures_due_at) WHERE figures_due_at IS NOT NULL;
