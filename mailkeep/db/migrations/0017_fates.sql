-- What the log of Postfix tells of mail that was sent, and how far it is read.

-- One row for each log that is followed. caught_up_at: when its end was reached last; all that was written before is known.
CREATE TABLE mail_logs (
    name         text PRIMARY KEY,
    caught_up_at timestamptz
);

-- How far its files are read. Numbers of inodes come again: the first line (SHA-256) tells files apart.
CREATE TABLE mail_log_positions (
    log        text NOT NULL,
    inode      bigint NOT NULL,
    first_line bytea NOT NULL,
    read_to    bigint NOT NULL,
    read_at    timestamptz NOT NULL,
    PRIMARY KEY (log, inode)
);

-- Mail on its way, by Postfix's queue id: what earlier pieces of the log told of it. Gone with its end.
CREATE TABLE queued_mail (
    queue_id      text PRIMARY KEY,
    origin        text NOT NULL CONSTRAINT queued_mail_origin CHECK (origin IN ('api', 'submission')),
    login         text,                                                             -- of the mail client
    header_id     text NOT NULL,                                                    -- Message-ID
    head          jsonb NOT NULL,                                                   -- fields that cleanup logs
    sender        text NOT NULL,
    size          bigint NOT NULL,
    message_id    uuid,                                                             -- the row in messages, once it is accepted
    expected      integer,                                                          -- recipients in the queue
    recipients    integer NOT NULL,                                                 -- recipients that were asked for
    noted         boolean NOT NULL,                                                 -- all of those are known
    expansions    jsonb NOT NULL,                                                   -- what became of those of aliases
    told          text[] NOT NULL,                                                  -- aliases whose fate is told
    first_seen_at timestamptz NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000);
CREATE INDEX queued_mail_by_age ON queued_mail (first_seen_at);

-- Envelopes of mail that clients hand in, noted before Postfix takes it; the log has no other word of them.
CREATE TABLE submissions (
    queue_id   text PRIMARY KEY,
    login      text NOT NULL,
    sender     text NOT NULL,
    recipients text[] NOT NULL,
    client     text NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX submissions_by_age ON submissions (created_at);
