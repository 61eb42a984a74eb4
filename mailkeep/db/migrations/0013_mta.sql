-- What Postfix and Dovecot ask, each a function that answers one question with the owner's rights: their role
-- (`mailkeep_mta`) may execute these and read no table. Local parts come as the daemons have them, not folded.
-- Every function takes a local part and a domain, as Postfix's %u and %d: an address without either is not asked for.

-- Whether a domain is ours, active or not: one that is deactivated answers 450 (mta_recipient), never "relay denied".
CREATE FUNCTION mta_domain(p_domain text) RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 1 FROM domains d WHERE d.name = lower(p_domain COLLATE "C")
$$;

-- The mailbox that answers for an address, with or without its tag, active or not; aliases do not count.
CREATE FUNCTION mta_mailbox_of(p_local text, p_domain text) RETURNS SETOF mailboxes LANGUAGE sql STABLE AS $$
    SELECT m.*
      FROM domains d
      CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
      JOIN mailboxes m ON m.id = r.id
     WHERE d.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3)
$$;

-- Whether an address is that of a mailbox: what comes out of mta_route and is none is for the outside.
CREATE FUNCTION mta_mailbox(p_local text, p_domain text) RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 1 FROM mta_mailbox_of(p_local, p_domain) m WHERE m.active
$$;

-- Where mail for an address goes in the end: mailboxes (each with the tag, and itself for a mailbox that keeps a copy)
-- and addresses outside, parted by commas; no row for what leads nowhere.
CREATE FUNCTION mta_route(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM domains d WHERE d.name = lower(p_domain COLLATE "C")) THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT string_agg(e->>'address', ',')
          FROM route_address(p_local || '@' || p_domain) r, jsonb_array_elements(r.deliveries) e
        HAVING count(*) > 0;
END
$$;

-- What a sender is answered at RCPT where the recipient is not to be taken (RFC 3463); no row where it is, or where
-- the domain is not ours. The embedded listener's words: mailkeep/features/receiving/rules.
CREATE FUNCTION mta_recipient(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT CASE r.decision
               WHEN 'unknown_user' THEN '550 5.1.1 User unknown'
               WHEN 'mailbox_inactive' THEN '550 5.2.1 Mailbox disabled'
               WHEN 'receiving_disabled' THEN '550 5.7.1 The domain takes no mail'
               WHEN 'domain_inactive' THEN '450 4.2.1 The domain is deactivated for now' END
      FROM route_address(p_local || '@' || p_domain) r
     WHERE r.decision NOT IN ('deliver', 'not_managed')
$$;

-- The same on ports where our own users and the API hand in mail: an unknown user there bounces like any other, and
-- only what may pass by itself is refused.
CREATE FUNCTION mta_paused(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT '450 4.2.1 The domain is deactivated for now'
      FROM route_address(p_local || '@' || p_domain) r
     WHERE r.decision = 'domain_inactive'
$$;

-- The logins that may send from an address: its mailbox, or the mailboxes that an alias of exactly that address (or
-- without its tag) leads to. A catch-all gives nobody the right to send in everybody's name.
CREATE FUNCTION mta_senders(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    found_rank integer;
BEGIN
    SELECT r.rank INTO found_rank
      FROM domains d
      CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
     WHERE d.name = lower(p_domain COLLATE "C") AND d.active;
    IF found_rank IN (1, 3) THEN
        RETURN QUERY SELECT m.address_key FROM mta_mailbox_of(p_local, p_domain) m WHERE m.active;
    ELSIF found_rank IN (2, 4) THEN
        RETURN QUERY
            SELECT string_agg(m.address_key, ',')
              FROM route_address(p_local || '@' || p_domain) r,
                   jsonb_array_elements(r.deliveries) e
              JOIN mailboxes m ON m.id = (e->>'mailbox_id')::uuid
             WHERE m.active
            HAVING count(*) > 0;
    END IF;
END
$$;

-- A mailbox as Dovecot delivers to it; the address may have a tag. The login name is the folded address.
CREATE FUNCTION mta_user(p_local text, p_domain text)
RETURNS TABLE (login text, mailbox_id uuid, quota_bytes bigint, plus_delimiter text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT m.address_key, m.id, m.quota_bytes, d.plus_delimiter
      FROM mta_mailbox_of(p_local, p_domain) m JOIN domains d ON d.id = m.domain_id
     WHERE m.active AND d.active
$$;

-- The same for a login, by the mailbox's own address only, with its password's hash, where the mailbox may use the
-- protocol: imap, pop3, sieve (ManageSieve), smtp (submission).
CREATE FUNCTION mta_login(p_local text, p_domain text, p_protocol text)
RETURNS TABLE (login text, password text, mailbox_id uuid, quota_bytes bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT m.address_key, m.password_hash, m.id, m.quota_bytes
      FROM domains d
      JOIN mailboxes m ON m.domain_id = d.id
     WHERE d.name = lower(p_domain COLLATE "C") AND d.active
       AND m.local_key = mailkeep_fold(p_local) AND m.deleted_at IS NULL AND m.active
       AND CASE p_protocol WHEN 'imap' THEN m.imap WHEN 'pop3' THEN m.pop3 WHEN 'sieve' THEN m.sieve
                           WHEN 'smtp' THEN m.smtp ELSE false END
$$;

-- Every mailbox, for the tools that go through all of them.
CREATE FUNCTION mta_users() RETURNS TABLE (login text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT m.address_key
      FROM mailboxes m JOIN domains d ON d.id = m.domain_id
     WHERE m.deleted_at IS NULL AND m.active AND d.active
$$;

-- The daemons' role gets these and nothing else: PUBLIC may execute no function that lends the owner's rights. To be
-- called by the owner once the role is there, at every start of the full profile.
CREATE FUNCTION mta_grant() RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    granted text;
BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO mailkeep_mta', current_database());
    GRANT USAGE ON SCHEMA public TO mailkeep_mta;
    FOREACH granted IN ARRAY ARRAY[
        'mta_domain(text)', 'mta_mailbox(text, text)', 'mta_route(text, text)', 'mta_recipient(text, text)',
        'mta_paused(text, text)', 'mta_senders(text, text)', 'mta_user(text, text)', 'mta_login(text, text, text)',
        'mta_users()'
    ] LOOP
        EXECUTE 'GRANT EXECUTE ON FUNCTION ' || granted || ' TO mailkeep_mta';
    END LOOP;
END
$$;

DO $$
DECLARE
    lent regprocedure;
BEGIN
    FOR lent IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', lent);
    END LOOP;
    REVOKE EXECUTE ON FUNCTION mta_grant() FROM PUBLIC;
END
$$;
