-- Whether the mail of aliases reaches anybody.

-- The state of an alias, with warnings about destinations that lead nowhere and limits that reject its mail (details of
-- p_visible domains only, NULL: all). States: inactive; unused (a mailbox has the address); domain_inactive and
-- receiving_disabled (its own domain, or that one's target); nowhere; partial (some destinations lead nowhere); ok.
-- `walked`: number of addresses that were looked up.
CREATE OR REPLACE FUNCTION alias_state(p_alias_id uuid, p_visible uuid[], OUT state text, OUT warnings jsonb, OUT walked integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    alias record;
    walk  record;
BEGIN
    SELECT a.*, d.active AS domain_active, d.receiving_enabled INTO alias
      FROM aliases a JOIN domains d ON d.id = a.domain_id WHERE a.id = p_alias_id;
    IF alias.id IS NULL THEN  -- deleted meanwhile
        state := 'inactive';
        warnings := '[]';
        walked := 0;
        RETURN;
    END IF;
    SELECT w.* INTO walk FROM route_walk(alias.destinations, alias.destination_keys, p_visible, true) w;
    walked := walk.walked;
    warnings := route_limit_warnings(walk.external, walk.too_many) || route_warnings(walk.dead_ends, true);
    state := CASE
        WHEN NOT alias.active THEN 'inactive'
        WHEN NOT alias.domain_active THEN 'domain_inactive'
        WHEN NOT alias.receiving_enabled THEN 'receiving_disabled'
        WHEN EXISTS (SELECT FROM mailboxes m
                      WHERE m.domain_id = alias.domain_id AND m.local_key = alias.source_key AND m.deleted_at IS NULL)
             THEN 'unused'
        -- Mail to postmaster and abuse then goes to the administrators.
        WHEN cardinality(walk.deliveries) = 0 AND route_is_postmaster(alias.source_key, '+')
             AND cardinality((route_administrators(alias.domain_id)).keys) > 0 THEN 'partial'
        WHEN cardinality(walk.deliveries) = 0 OR walk.too_many
             OR walk.external > (SELECT s.external_expansion FROM routing_settings s) THEN 'nowhere'
        WHEN cardinality(walk.dead_ends) > 0 THEN 'partial'
        ELSE 'ok' END;
END
$$;

-- alias_state for a list, in its order. After 5,000 addresses the rest is left out, which bounds the time.
CREATE OR REPLACE FUNCTION alias_states(p_ids uuid[], p_visible uuid[]) RETURNS TABLE (id uuid, state text, warnings jsonb)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    total integer := 0;
    one   record;
BEGIN
    FOREACH id IN ARRAY p_ids LOOP
        EXIT WHEN total >= 5000;
        SELECT s.* INTO one FROM alias_state(id, p_visible) s;
        total := total + one.walked;
        state := one.state;
        warnings := one.warnings;
        RETURN NEXT;
    END LOOP;
END
$$;
