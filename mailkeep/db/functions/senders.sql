-- Who may send from an address: one function for mail clients (Postfix), the signing of their mail, and Sieve.

-- The logins that may send from an address: its mailbox, the mailboxes that an alias of exactly this address (or without
-- its tag) leads to, and those with the address or its domain in `send_as`. A catch-all permits nobody. What is permitted
-- in the target of an alias domain is permitted in the alias domain. For an administrator's address an alias or entry
-- does not count if an administrator of a lower role changed it last. The domain must be active.
CREATE OR REPLACE FUNCTION sender_logins(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    key     text := replace(mailkeep_fold(p_local), '@', ' ');
    domain  record;
    matched record;
    rank    integer;  -- of the administrator whose address it is
BEGIN
    SELECT n.id AS written_id, d.id, d.name, d.plus_delimiter INTO domain
      FROM domains n JOIN domains d ON d.id = coalesce(n.alias_of, n.id)
     WHERE n.name = lower(p_domain COLLATE "C") AND n.active AND d.active;
    IF domain.id IS NULL THEN
        RETURN;
    END IF;
    SELECT r.rank, r.id INTO matched FROM route_match(domain.id, domain.plus_delimiter, key) r;
    rank := coalesce(address_rank(key || '@' || domain.name), 0);
    RETURN QUERY
        SELECT m.address_key FROM mailboxes m WHERE matched.rank IN (1, 3) AND m.id = matched.id AND m.active
        UNION
        SELECT m.address_key
          FROM aliases a
          CROSS JOIN LATERAL route_address(p_local || '@' || domain.name) r
          CROSS JOIN LATERAL jsonb_array_elements(r.deliveries) e
          JOIN mailboxes m ON m.id = (e->>'mailbox_id')::uuid
         WHERE matched.rank IN (2, 4) AND a.id = matched.id AND a.changed_rank >= rank AND m.active
        UNION
        SELECT m.address_key
          FROM send_as s
          JOIN mailboxes m ON m.id = s.mailbox_id
          JOIN domains o ON o.id = m.domain_id
         WHERE s.domain_id IN (domain.written_id, domain.id)
           AND s.local_key IN ('', key, coalesce(route_base(key, domain.plus_delimiter), key))
           AND s.granted_rank >= rank AND m.deleted_at IS NULL AND m.active AND o.active;
END
$$;

-- sender_logins, separated by commas, with the accesses of their sessions, in the form of mta_login for submission:
-- Postfix compares the two.
CREATE OR REPLACE FUNCTION mta_senders(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT string_agg(m.address_key || '/' || a, ',')
      FROM sender_logins(p_local, p_domain) s
      JOIN mailboxes m ON m.address_key = s AND m.deleted_at IS NULL
      CROSS JOIN LATERAL session_accesses(m.id, 'smtp', mta_time()) a
    HAVING count(*) > 0
$$;
