-- A short way for what Postfix asks most often: the address of a mailbox, exactly, that forwards nothing. Its answers
-- are those of route_address and route_recipient, which every other address still takes.

-- Such a mailbox, in a domain that receives: its address as it was asked for, and its room. NULL for all others. A
-- mailbox of exactly this address comes before everything else (route_match), so nothing more has to be known.
-- Folding is left to the long way, but for ASCII, where it is lower(): mailkeep_fold takes a connection 1 ms to load.
CREATE FUNCTION route_plain(p_local text, p_domain text, OUT address text, OUT quota_bytes bigint, OUT used_bytes bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE SET enable_seqscan TO off AS $$
BEGIN
    IF octet_length(p_local) = length(p_local) THEN
        SELECT p_local || '@' || d.name, m.quota_bytes, m.used_bytes INTO address, quota_bytes, used_bytes
          FROM domains d
          JOIN mailboxes m ON m.domain_id = d.id
         WHERE d.name = lower(p_domain COLLATE "C") AND d.active AND d.receiving_enabled
           AND m.local_key = lower(p_local COLLATE "C") AND m.deleted_at IS NULL AND m.active AND m.forward_keys = '{}';
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION mta_route(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    plain record := route_plain(p_local, p_domain);
BEGIN
    IF plain.address IS NOT NULL THEN
        RETURN NEXT plain.address;
    ELSIF route_is_ours(p_domain) THEN
        RETURN QUERY
            SELECT string_agg(e->>'address', ',')
              FROM route_address(p_local || '@' || p_domain) r, jsonb_array_elements(r.deliveries) e
            HAVING count(*) > 0;
    END IF;
END
$$;

-- As in migration 0030; a mailbox without a quota, or with room for the largest message that is accepted, has no row.
CREATE OR REPLACE FUNCTION mta_recipient(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    plain record := route_plain(p_local, p_domain);
BEGIN
    IF plain.quota_bytes = 0 THEN
        RETURN;
    ELSIF plain.used_bytes < plain.quota_bytes THEN
        IF plain.quota_bytes >= (SELECT s.message_size FROM routing_settings s) THEN
            RETURN;
        END IF;
    END IF;
    IF NOT route_is_ours(p_domain) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT CASE r.decision
                   WHEN 'deliver' THEN 'expanding'
                   WHEN 'unknown_user' THEN '550 5.1.1 User unknown'
                   WHEN 'mailbox_inactive' THEN '550 5.2.1 Mailbox disabled'
                   WHEN 'receiving_disabled' THEN '550 5.7.1 The domain takes no mail'
                   WHEN 'domain_inactive' THEN '450 4.2.1 The domain is deactivated for now'
                   WHEN 'no_administrator' THEN '451 4.3.5 No administrator can be reached'
                   WHEN 'expansion_limit' THEN '550 5.7.1 The address has too many external destinations'
                   WHEN 'too_many_destinations' THEN '550 5.7.1 The address has too many destinations'
                   WHEN 'mailbox_full' THEN '452 4.2.2 Mailbox full' END
          FROM route_recipient(p_local || '@' || p_domain, 0) r
         WHERE r.decision <> 'not_managed' AND (r.decision <> 'deliver' OR r.external > 0 OR r.depends_on_size);
END
$$;
