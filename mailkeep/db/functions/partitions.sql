-- The smallest UUIDv7 of a time: the bound of a partition.
CREATE OR REPLACE FUNCTION uuid7_floor(p_at timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT (lpad(to_hex((extract(epoch FROM p_at) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid
$$;

-- The tables that are partitioned by month, by their own ID or by a message's.
CREATE OR REPLACE FUNCTION monthly_tables() RETURNS text[] LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY['messages', 'message_recipients', 'message_search', 'message_tags', 'message_statuses', 'message_attempts',
                 'events', 'audit_entries']
$$;

-- The column that p_table is partitioned by.
CREATE OR REPLACE FUNCTION partition_column(p_table regclass) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT a.attname FROM pg_partitioned_table p
      JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
     WHERE p.partrelid = p_table
$$;

-- Creates the partition of p_parent for the month that begins at p_month, with its rows from the default partition.
CREATE OR REPLACE FUNCTION ensure_partition(p_parent text, p_month timestamptz) RETURNS void
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
END
$$;

-- Creates the partitions for the month of p_at and the next month. Idempotent. Runs with the owner's rights. Gives up
-- if a table is locked for more than 3 seconds, so that no query queues behind it; call it again later.
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

-- Drops the months of p_parent that ended before p_before, and deletes older rows from its default partition. Returns
-- how many months were dropped. Only called by functions that run with the owner's rights.
CREATE OR REPLACE FUNCTION drop_months(p_parent text, p_before timestamptz) RETURNS integer
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    part   text;
    months integer := 0;
BEGIN
    FOR part IN
        SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = p_parent::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
           AND (to_date(right(c.relname, 7), 'YYYY_MM')::timestamp + interval '1 month') AT TIME ZONE 'UTC' <= p_before
         ORDER BY c.relname
    LOOP
        EXECUTE format('DROP TABLE %I', part);
        months := months + 1;
    END LOOP;
    EXECUTE format('DELETE FROM %I WHERE %I < %L', p_parent || '_default', partition_column(p_parent::regclass),
                   uuid7_floor(p_before));
    RETURN months;
END
$$;

-- The time of the newest row in a table that is partitioned by month, from its ID; NULL if the table is empty.
CREATE OR REPLACE FUNCTION newest_row_at(p_parent text) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
DECLARE
    newest uuid;
BEGIN
    EXECUTE format('SELECT %1$I FROM %2$I ORDER BY %1$I DESC LIMIT 1', partition_column(p_parent::regclass), p_parent)
       INTO newest;
    RETURN to_timestamp(('x' || left(replace(newest::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
END
$$;

-- Whether p_at is too far ahead of the newest row to be plausible.
CREATE OR REPLACE FUNCTION is_clock_ahead(p_parent text, p_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT coalesce(p_at > newest_row_at(p_parent) + interval '35 days', true)
$$;

-- Checks the clock before rows are pruned, and returns the time up to which it is confirmed, or NULL. Rows that are
-- due at one check are pruned a day later at the earliest, so that a clock that is wrong for an hour prunes nothing.
CREATE OR REPLACE FUNCTION confirm_prune_time(p_parent text, p_at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    confirmed timestamptz;
BEGIN
    IF is_clock_ahead(p_parent, p_at) THEN
        DELETE FROM prune_checks c WHERE c.parent = p_parent;
        RETURN NULL;
    END IF;
    INSERT INTO prune_checks AS c (parent, first_at) VALUES (p_parent, p_at)
    ON CONFLICT (parent) DO UPDATE
       SET confirmed_at = CASE WHEN c.first_at <= p_at - interval '1 day' THEN c.first_at
                               WHEN c.confirmed_at <= p_at THEN c.confirmed_at END,
           -- If the clock was set back, the first check is in the future.
           first_at = CASE WHEN c.first_at BETWEEN p_at - interval '1 day' + interval '1 microsecond' AND p_at
                           THEN c.first_at ELSE p_at END
    RETURNING c.confirmed_at INTO confirmed;
    RETURN confirmed;
END
$$;

-- Drops the months of messages that ended before p_messages_before and of events before p_events_before (NULL: none),
-- and deletes older rows from the default partitions. Returns how many months were dropped. Drops nothing from a
-- table whose newest row is more than 35 days older than p_at. Runs with the owner's rights. Gives up if readers hold
-- a partition for more than 3 seconds; call it again later.
CREATE OR REPLACE FUNCTION drop_partitions(p_at timestamptz, p_messages_before timestamptz, p_events_before timestamptz)
RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout TO '3s' AS $$
DECLARE
    parent text;
    before timestamptz;
    months integer := 0;
    oldest timestamptz := (SELECT to_timestamp(('x' || left(replace(s.message_id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)
                             FROM scheduled_messages s ORDER BY s.message_id LIMIT 1);
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    IF oldest < p_messages_before THEN
        p_messages_before := oldest;  -- what is still to be sent stays
    END IF;
    FOREACH parent IN ARRAY array_remove(monthly_tables(), 'audit_entries') LOOP
        before := CASE parent WHEN 'events' THEN p_events_before ELSE p_messages_before END;
        IF before IS NOT NULL AND NOT is_clock_ahead(CASE parent WHEN 'events' THEN 'events' ELSE 'messages' END, p_at) THEN
            months := months + drop_months(parent, before);
        END IF;
    END LOOP;
    RETURN months;
END
$$;
