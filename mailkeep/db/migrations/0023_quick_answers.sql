-- What Postfix asks of every recipient, mostly of addresses that are not ours: answered without a walk through the routes,
-- and in plpgsql, which keeps its plans for as long as Postfix keeps the connection.

CREATE OR REPLACE FUNCTION mta_recipient(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM domains d WHERE d.name = lower(p_domain COLLATE "C")) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT CASE r.decision
                   WHEN 'unknown_user' THEN '550 5.1.1 User unknown'
                   WHEN 'mailbox_inactive' THEN '550 5.2.1 Mailbox disabled'
                   WHEN 'receiving_disabled' THEN '550 5.7.1 The domain takes no mail'
                   WHEN 'domain_inactive' THEN '450 4.2.1 The domain is deactivated for now' END
          FROM route_address(p_local || '@' || p_domain) r
         WHERE r.decision NOT IN ('deliver', 'not_managed');
END
$$;

CREATE OR REPLACE FUNCTION mta_paused(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM domains d WHERE d.name = lower(p_domain COLLATE "C") AND NOT d.active) THEN
        RETURN QUERY
            SELECT '450 4.2.1 The domain is deactivated for now'
              FROM route_address(p_local || '@' || p_domain) r
             WHERE r.decision = 'domain_inactive';
    END IF;
END
$$;
