-- Who may prune what: a role of its own seals and prunes the audit log, and nothing is pruned by a clock that jumped.
-- And: the rate of API keys as a sliding window, revoked API keys, the rank of who changed an alias.

-- The newest row of a table that is partitioned by month; NULL where it is empty.
CREATE FUNCTION newest_row_at(p_parent text) RETURNS timestamptz
LANGUAGE plpgsql STABLE SET search_path = public, pg_temp AS $$
DECLARE
    newest uuid;
BEGIN
    EXECUTE format('SELECT %1$I FROM %2$I ORDER BY %1$I DESC LIMIT 1', partition_column(p_parent::regclass), p_parent)
       INTO newest;
    RETURN to_timestamp(('x' || left(replace(newest::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
END
$$;

-- Whether the clock is too far ahead of the newest row to be believed.
CREATE FUNCTION is_clock_ahead(p_parent text, p_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT coalesce(p_at > newest_row_at(p_parent) + interval '35 days', true)
$$;

-- By table: the first of two checks that are a day apart, and the latest time that such a pair has confirmed.
CREATE TABLE prune_checks (
    parent       text PRIMARY KEY,
    first_at     timestamptz NOT NULL,
    confirmed_at timestamptz
);

-- Checks the clock before something is pruned: the time up to which it is confirmed, or NULL. What was due at a check
-- is pruned a day later at the earliest, so that an hour with a wrong clock prunes nothing.
CREATE FUNCTION confirm_prune_time(p_parent text, p_at timestamptz) RETURNS timestamptz
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
           -- The first check is in the future where the clock was set back.
           first_at = CASE WHEN c.first_at BETWEEN p_at - interval '1 day' + interval '1 microsecond' AND p_at
                           THEN c.first_at ELSE p_at END
    RETURNING c.confirmed_at INTO confirmed;
    RETURN confirmed;
END
$$;

-- As in migration 0006, and nothing of a table whose newest row is more than 35 days older than p_at.
DROP FUNCTION drop_partitions(timestamptz, timestamptz);
CREATE FUNCTION drop_partitions(p_at timestamptz, p_messages_before timestamptz, p_events_before timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET lock_timeout TO '3s' AS $$
DECLARE
    parent text;
    before timestamptz;
    months integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('mailkeep.partitions'));
    FOREACH parent IN ARRAY array_remove(monthly_tables(), 'audit_entries') LOOP
        before := CASE parent WHEN 'events' THEN p_events_before ELSE p_messages_before END;
        IF before IS NOT NULL AND NOT is_clock_ahead(CASE parent WHEN 'events' THEN 'events' ELSE 'messages' END, p_at) THEN
            months := months + drop_months(parent, before);
        END IF;
    END LOOP;
    RETURN months;
END
$$;
REVOKE EXECUTE ON FUNCTION drop_partitions(timestamptz, timestamptz, timestamptz) FROM PUBLIC;

-- As in migration 0010, for the role that seals, and never entries younger than 31 days (the least that
-- retention.audit_days can be), whatever a seal says. Here the server's own clock counts as well: a time that is handed in
-- would be the choice of whoever calls.
CREATE OR REPLACE FUNCTION drop_audit_months() RETURNS integer
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
    IF head.dropped_before > least(clock_timestamp(), newest_row_at('audit_entries')) - interval '31 days' THEN
        RAISE EXCEPTION 'The audit log is kept for 31 days at least; the newest seal drops what is before %.',
                        head.dropped_before USING ERRCODE = 'insufficient_privilege';
    END IF;
    months := drop_months('audit_entries', head.dropped_before);
    DELETE FROM audit_seals s WHERE s.sequence < head.first_sequence;
    RETURN months;
END
$$;

-- The requests of API keys that were accepted in the second `newest` and the 60 before it, newest first.
DROP TABLE api_key_rates;
CREATE UNLOGGED TABLE api_key_rates (
    key_id uuid PRIMARY KEY,
    newest bigint NOT NULL,                                                         -- seconds since 1970
    counts integer[] NOT NULL
) WITH (fillfactor = 50);

-- Counts a request of a key where fewer than p_limit were accepted in the last 60 s. Seconds are counted whole: with the
-- one under way they are 61. `wait`: seconds until the next request is accepted, 0: at once.
CREATE FUNCTION take_api_call(p_key_id uuid, p_limit integer, p_at timestamptz,
                              OUT accepted boolean, OUT used integer, OUT wait integer)
LANGUAGE plpgsql AS $$
DECLARE
    second bigint := floor(extract(epoch FROM p_at));
    row    api_key_rates;
    kept   integer[];
    oldest integer;
BEGIN
    INSERT INTO api_key_rates (key_id, newest, counts) VALUES (p_key_id, second, '{0}') ON CONFLICT (key_id) DO NOTHING;
    SELECT * INTO row FROM api_key_rates r WHERE r.key_id = p_key_id FOR UPDATE;
    -- Another process's clock may be a little ahead; one that was set back by more begins anew.
    IF row.newest > second AND row.newest - second <= 60 THEN
        second := row.newest;
    END IF;
    kept := CASE WHEN second - row.newest BETWEEN 0 AND 60
                 THEN array_fill(0, ARRAY[(second - row.newest)::integer]) || row.counts[1:61 - (second - row.newest)::integer]
                 ELSE '{0}' END;
    used := (SELECT coalesce(sum(c), 0) FROM unnest(kept) c);
    accepted := used < p_limit;
    IF accepted THEN
        used := used + 1;
        kept[1] := kept[1] + 1;
        UPDATE api_key_rates r SET newest = second, counts = kept WHERE r.key_id = p_key_id;
    END IF;
    wait := 0;
    IF used >= p_limit THEN
        oldest := (SELECT max(n) FROM unnest(kept) WITH ORDINALITY u(c, n) WHERE c > 0);
        wait := greatest(1, ceil(second - oldest + 62 - extract(epoch FROM p_at)));
    END IF;
END
$$;

-- Of keys that were revoked, so that who shows one is told.
CREATE TABLE revoked_api_keys (
    token_hash bytea PRIMARY KEY
);
CREATE FUNCTION remember_revoked_api_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO revoked_api_keys (token_hash) VALUES (OLD.token_hash) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER api_keys_revoked AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION remember_revoked_api_key();

-- The rank of who changed an alias last: 0 domain_admin, 1 admin, 2 super_admin.
ALTER TABLE aliases ADD COLUMN changed_rank smallint NOT NULL DEFAULT 2
    CONSTRAINT aliases_changed_rank_range CHECK (changed_rank BETWEEN 0 AND 2);

-- The daemons' roles get what `mailkeep.db.mta_role` names.
DROP FUNCTION mta_grant();

DO $$
DECLARE
    columns text := (SELECT string_agg(quote_ident(a.attname), ', ') FROM pg_attribute a
                      WHERE a.attrelid = 'audit_entries'::regclass AND a.attnum > 0 AND NOT a.attisdropped
                        AND a.attname <> 'tx');
BEGIN
    REVOKE EXECUTE ON FUNCTION drop_audit_months() FROM PUBLIC;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_audit') THEN
        GRANT USAGE ON SCHEMA public TO mailkeep_audit;
        GRANT SELECT ON audit_entries TO mailkeep_audit;
        EXECUTE format('GRANT INSERT (%s) ON audit_entries TO mailkeep_audit', columns);
        GRANT SELECT, INSERT ON audit_seals TO mailkeep_audit;
        GRANT SELECT, INSERT, UPDATE, DELETE ON prune_checks TO mailkeep_audit;
        GRANT EXECUTE ON FUNCTION drop_audit_months() TO mailkeep_audit;
    END IF;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'mailkeep_app') THEN
        REVOKE INSERT ON audit_seals FROM mailkeep_app;
        REVOKE EXECUTE ON FUNCTION drop_audit_months() FROM mailkeep_app;
        REVOKE EXECUTE ON FUNCTION drop_months(text, timestamptz) FROM mailkeep_app;
        REVOKE UPDATE, DELETE, TRUNCATE ON revoked_api_keys FROM mailkeep_app;
    END IF;
END
$$;
