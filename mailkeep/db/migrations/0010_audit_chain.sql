-- The audit log proves itself: entries are chained by seals after their commit, and go by whole months.

-- Orders entries by transaction, so that the sealer can tell what is settled. What is there already is one transaction's.
ALTER TABLE audit_entries ADD COLUMN tx xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX audit_entries_by_transaction ON audit_entries (tx, id);
CREATE INDEX audit_entries_by_action ON audit_entries (action, id);

-- Each seal covers the entries after (last_tx, last_id) of the one before it, up to its own.
CREATE TABLE audit_seals (
    sequence       bigint PRIMARY KEY CONSTRAINT audit_seals_sequence_range CHECK (sequence > 0),
    sealed_at      timestamptz NOT NULL,
    entries        integer NOT NULL,
    last_tx        xid8 NOT NULL,
    last_id        uuid NOT NULL,
    latest_id      uuid,                                                            -- the greatest id among its entries
    leaves         bytea NOT NULL,                                                  -- of each entry its id and its SHA-256
    first_sequence bigint NOT NULL,                                                 -- older seals were let go
    dropped_before timestamptz,                                                     -- and so were older entries
    previous       bytea NOT NULL,
    hash           bytea NOT NULL,
    signature      bytea NOT NULL
);
ALTER TABLE audit_seals ALTER COLUMN leaves SET STORAGE EXTERNAL;
CREATE INDEX audit_seals_by_position ON audit_seals (last_tx, last_id);

-- Drops the months of p_parent that ended before p_before, and what is older in its default partition; answers how
-- many months that were. For functions with the owner's rights.
CREATE FUNCTION drop_months(p_parent text, p_before timestamptz) RETURNS integer
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

-- Lets go of what the newest seal says is let go, and of nothing else: of entries and of seals. Runs with the owner's
-- rights; gives up where readers hold a month for longer than some seconds, to be called again.
CREATE FUNCTION drop_audit_months() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout TO '3s' AS $$
DECLARE
    head   audit_seals;
    months integer;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    SELECT * INTO head FROM audit_seals s ORDER BY s.sequence DESC LIMIT 1;
    IF head.dropped_before IS NULL THEN
        RETURN 0;
    END IF;
    months := drop_months('audit_entries', head.dropped_before);
    DELETE FROM audit_seals s WHERE s.sequence < head.first_sequence;
    RETURN months;
END
$$;

DO $$
DECLARE
    columns text := (SELECT string_agg(quote_ident(a.attname), ', ') FROM pg_attribute a
                      WHERE a.attrelid = 'audit_entries'::regclass AND a.attnum > 0 AND NOT a.attisdropped
                        AND a.attname <> 'tx');
BEGIN
    REVOKE EXECUTE ON FUNCTION drop_months(text, timestamptz) FROM PUBLIC;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_app') THEN
        REVOKE EXECUTE ON FUNCTION drop_months(text, timestamptz) FROM mailkeep_app;
        REVOKE UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER ON audit_seals FROM mailkeep_app;
        -- Nobody says of himself in which transaction he writes.
        REVOKE INSERT ON audit_entries FROM mailkeep_app;
        EXECUTE format('GRANT INSERT (%s) ON audit_entries TO mailkeep_app', columns);
    END IF;
END
$$;
