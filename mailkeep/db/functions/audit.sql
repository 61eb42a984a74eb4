-- Inserts audit entries: p_entries is [{column: value}].
CREATE OR REPLACE FUNCTION record_audit_entries(p_entries jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit_entries (id, created_at, admin_id, actor_type, actor_label, key_id, action, resource_type, resource_id,
                               domain_id, domain_name, ip_address, user_agent, request_id, outcome, error_code, details)
    SELECT e.id, e.created_at, e.admin_id, e.actor_type, e.actor_label, e.key_id, e.action, e.resource_type, e.resource_id,
           e.domain_id, e.domain_name, e.ip_address, e.user_agent, e.request_id, e.outcome, e.error_code, e.details
      FROM jsonb_to_recordset(p_entries) e(
               id uuid, created_at timestamptz, admin_id uuid, actor_type text, actor_label text, key_id uuid, action text,
               resource_type text, resource_id text, domain_id uuid, domain_name text, ip_address text, user_agent text,
               request_id uuid, outcome text, error_code text, details jsonb);
END
$$;

-- Drops the entries and seals that the newest seal marks as dropped, and returns the number of dropped months of
-- entries. Runs with the owner's rights, for the role that seals (grants.sql). Fails if the seal would drop entries
-- younger than 31 days, the minimum of retention.audit_days. The age is checked against the server's clock too,
-- because the caller chooses every time that it passes. Gives up if readers hold a partition for more than 3 seconds;
-- call it again later.
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
        RAISE EXCEPTION 'The audit log is kept for at least 31 days; the newest seal drops entries before %.',
                        head.dropped_before USING ERRCODE = 'insufficient_privilege';
    END IF;
    months := drop_months('audit_entries', head.dropped_before);
    DELETE FROM audit_seals s WHERE s.sequence < head.first_sequence;
    RETURN months;
END
$$;
