-- History at a million messages: what it is searched by, each try of delivery, its retention.

-- In Debian's postgresql and in the wheel; trusted, so that the owner of the database may create them.
CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

ALTER TABLE messages
    ADD COLUMN accepted_at timestamptz,                                             -- the MTA took it
    ADD COLUMN answered_at timestamptz;                                             -- and we wrote its answer down
UPDATE messages SET accepted_at = created_at, answered_at = created_at
 WHERE direction = 'outbound' AND queue_id IS NOT NULL;

DROP INDEX messages_by_queue_id;
CREATE INDEX messages_by_queue_id ON messages (queue_id) WHERE queue_id IS NOT NULL;
CREATE INDEX messages_by_status ON messages (status, id);
CREATE INDEX messages_by_domain_and_status ON messages (domain_id, status, id);

-- What is searched by parts of words, folded. A table of its own: rows of messages change, and each change would
-- be written into the trigrams again.
CREATE TABLE message_search (
    message_id uuid PRIMARY KEY,
    domain_id  uuid,
    subject    text NOT NULL,
    sender     text NOT NULL,
    recipients text NOT NULL                                                        -- envelope, To and Cc
) PARTITION BY RANGE (message_id);
CREATE INDEX message_search_trigrams ON message_search
    USING gin (domain_id, subject gin_trgm_ops, sender gin_trgm_ops, recipients gin_trgm_ops);

CREATE TABLE message_tags (
    tag        text NOT NULL,
    message_id uuid NOT NULL,
    PRIMARY KEY (tag, message_id)
) PARTITION BY RANGE (message_id);

-- Each try to deliver to a recipient, and how an attempt to submit ended where the MTA did not take it.
CREATE TABLE message_attempts (
    message_id      uuid NOT NULL,
    id              uuid NOT NULL,
    at              timestamptz NOT NULL,
    kind            text NOT NULL CONSTRAINT message_attempts_kind
                    CHECK (kind IN ('delivered', 'deferred', 'bounced', 'failed', 'lost', 'unknown')),
    recipient       text,
    attempt         integer NOT NULL,
    smtp_code       integer,
    enhanced_code   text,
    diagnostic      text,
    remote_host     text,
    next_attempt_at timestamptz,
    PRIMARY KEY (message_id, id)
) PARTITION BY RANGE (message_id);

CREATE INDEX events_by_domain ON events (domain_id, tx, id);

CREATE TABLE message_search_default PARTITION OF message_search DEFAULT;
CREATE TABLE message_tags_default PARTITION OF message_tags DEFAULT;
CREATE TABLE message_attempts_default PARTITION OF message_attempts DEFAULT;

-- The tables that are partitioned by month, each by the id of a message or of its own.
CREATE FUNCTION monthly_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['messages', 'message_recipients', 'message_search', 'message_tags', 'message_attempts', 'events',
                 'audit_entries']
$$;

-- The column that p_table is partitioned by.
CREATE FUNCTION partition_column(p_table regclass) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT a.attname FROM pg_partitioned_table p
      JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
     WHERE p.partrelid = p_table
$$;

-- The partition of p_parent for the month that begins at p_month, with what waits for it in the default partition.
CREATE FUNCTION ensure_partition(p_parent text, p_month timestamptz) RETURNS void
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    part  text := p_parent || to_char(p_month AT TIME ZONE 'UTC', '_YYYY_MM');
    low   uuid := uuid7_floor(p_month);
    high  uuid := uuid7_floor(((p_month AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC');
BEGIN
    IF to_regclass(part) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('LOCK TABLE ONLY %I IN SHARE UPDATE EXCLUSIVE MODE', p_parent);
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', p_parent || '_default');
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, p_parent);
    EXECUTE format('WITH moved AS (DELETE FROM %1$I WHERE %2$I >= %3$L AND %2$I < %4$L RETURNING *) '
                   'INSERT INTO %5$I SELECT * FROM moved',
                   p_parent || '_default', partition_column(p_parent::regclass), low, high, part);
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', p_parent, part, low, high);
    IF p_parent = 'audit_entries' AND EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_app') THEN
        EXECUTE format('REVOKE ALL ON %I FROM mailkeep_app', part);
    END IF;
END
$$;

-- Partitions for the month of p_at and the one after it. Idempotent; runs with the owner's rights. Gives up where a
-- table is held for longer than some seconds, so that nobody waits behind it; to be called again.
CREATE OR REPLACE FUNCTION ensure_partitions(p_at timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout TO '3s' AS $$
DECLARE
    parent text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    FOREACH parent IN ARRAY monthly_tables() LOOP
        FOR ahead IN 0..1 LOOP
            PERFORM ensure_partition(
                parent, (date_trunc('month', p_at AT TIME ZONE 'UTC') + make_interval(months => ahead)) AT TIME ZONE 'UTC');
        END LOOP;
    END LOOP;
END
$$;

-- Drops the months of the history that ended before p_messages_before, of events before p_events_before, and
-- removes what is older from the default partitions; answers how many months were dropped. Runs with the owner's
-- rights; gives up where readers hold a month for longer than some seconds, to be called again.
CREATE FUNCTION drop_partitions(p_messages_before timestamptz, p_events_before timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout TO '3s' AS $$
DECLARE
    parent text;
    before timestamptz;
    part   text;
    months integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    FOREACH parent IN ARRAY array_remove(monthly_tables(), 'audit_entries') LOOP
        before := CASE parent WHEN 'events' THEN p_events_before ELSE p_messages_before END;
        FOR part IN
            SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = parent::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
               AND (to_date(right(c.relname, 7), 'YYYY_MM')::timestamp + interval '1 month') AT TIME ZONE 'UTC' <= before
             ORDER BY c.relname
        LOOP
            EXECUTE format('DROP TABLE %I', part);
            months := months + 1;
        END LOOP;
        EXECUTE format('DELETE FROM %I WHERE %I < %L',
                       parent || '_default', partition_column(parent::regclass), uuid7_floor(before));
    END LOOP;
    RETURN months;
END
$$;

-- What is there already.
DO $$
DECLARE
    month text;
BEGIN
    FOR month IN
        SELECT right(c.relname, 7) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'messages'::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
    LOOP
        PERFORM ensure_partition(parent, to_date(month, 'YYYY_MM')::timestamp AT TIME ZONE 'UTC')
           FROM unnest(monthly_tables()) parent;
    END LOOP;
END
$$;
INSERT INTO message_search (message_id, domain_id, subject, sender, recipients)
SELECT m.id, m.domain_id, mailkeep_fold(m.subject), mailkeep_fold(m.from_address),
       mailkeep_fold(coalesce((
           SELECT string_agg(DISTINCT a.address, ' ') FROM (
               SELECT r.address FROM message_recipients r WHERE r.message_id = m.id
               UNION ALL SELECT unnest(m.to_addresses || m.cc_addresses)) a), ''))
  FROM messages m;
INSERT INTO message_tags (tag, message_id) SELECT DISTINCT t.tag, m.id FROM messages m CROSS JOIN unnest(m.tags) AS t (tag);

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_app') THEN
        -- Only by way of ensure_partitions and drop_partitions.
        REVOKE EXECUTE ON FUNCTION ensure_partition(text, timestamptz) FROM PUBLIC, mailkeep_app;
    END IF;
END
$$;
