-- Postfix's client (dict_pgsql) sets its encoding to LATIN1, whatever is in what it asks and is told: UTF-8 (RFC 6531).
-- So each byte of it comes as a character, and has to go back as one: an answer that Latin-1 has no word for would fail
-- the question, and with it, for a minute, all others of that process. What is ASCII, or no UTF-8, stays as it is.
CREATE OR REPLACE FUNCTION mta_decode(p_text text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF octet_length(p_text) = length(p_text) OR current_setting('client_encoding') <> 'LATIN1' THEN
        RETURN p_text;
    END IF;
    BEGIN
        RETURN convert_from(convert_to(p_text, 'LATIN1'), 'UTF8');
    EXCEPTION WHEN character_not_in_repertoire OR untranslatable_character THEN
        RETURN p_text;
    END;
END
$$;

-- The answer to it.
CREATE OR REPLACE FUNCTION mta_encode(p_text text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN octet_length(p_text) = length(p_text) OR current_setting('client_encoding') <> 'LATIN1' THEN p_text
                ELSE convert_from(convert_to(p_text, 'UTF8'), 'LATIN1') END
$$;

-- Whether Postfix takes a domain for ours: those that are managed, active or not, and the server's own name, where
-- postmaster and abuse are.
CREATE OR REPLACE FUNCTION mta_domain(p_domain text) RETURNS SETOF integer
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF route_is_ours(p_domain) THEN
        RETURN NEXT 1;
    END IF;
END
$$;

-- The mailbox that answers for an address, with or without its tag, active or not; aliases do not count.
CREATE OR REPLACE FUNCTION mta_mailbox_of(p_local text, p_domain text) RETURNS SETOF mailboxes LANGUAGE sql STABLE AS $$
    SELECT m.*
      FROM domains d
      CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
      JOIN mailboxes m ON m.id = r.id
     WHERE d.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3)
$$;

-- Whether an address is that of a mailbox: what comes out of mta_route and is none is for the outside.
CREATE OR REPLACE FUNCTION mta_mailbox(p_local text, p_domain text) RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 1 FROM mta_mailbox_of(p_local, p_domain) m WHERE m.active
$$;

-- Where mail for an address goes in the end: mailboxes (each with the tag, and itself for a mailbox that keeps a copy)
-- and addresses outside, parted by commas; no row for what leads nowhere.
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

-- The same on ports where our own users and the API hand in mail: an unknown user there bounces like any other, and
-- only what may pass by itself is refused.
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

-- Whether mail with this envelope sender leaves by a relay of the sender's domain. A rewritten sender (SRS) is that of
-- forwarded mail, which does not.
CREATE OR REPLACE FUNCTION mta_relay(p_local text, p_domain text) RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 1
      FROM domains d
     WHERE d.name = lower(p_domain COLLATE "C") AND d.relay_host IS NOT NULL AND p_local !~* '^SRS[01][-+=]'
$$;

-- As mta_senders of migration 0013 (renamed in 0031), but an alias that a lower rank changed last than the address belongs to lets nobody send from it.
CREATE OR REPLACE FUNCTION sender_logins(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    found_rank integer;
    found_id   uuid;
    key        text := mailkeep_fold(p_local) || '@' || lower(p_domain COLLATE "C");
BEGIN
    SELECT r.rank, r.id INTO found_rank, found_id
      FROM domains d
      CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
     WHERE d.name = lower(p_domain COLLATE "C") AND d.active;
    IF found_rank IN (1, 3) THEN
        RETURN QUERY SELECT m.address_key FROM mta_mailbox_of(p_local, p_domain) m WHERE m.active;
    ELSIF found_rank IN (2, 4)
          AND (SELECT a.changed_rank FROM aliases a WHERE a.id = found_id) >= coalesce(address_rank(key), 0) THEN
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

CREATE OR REPLACE FUNCTION mta_senders(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT string_agg(m.address_key || '/' || greatest(d.access_version, m.access_version), ',')
      FROM sender_logins(p_local, p_domain) s
      JOIN mailboxes m ON m.address_key = ANY (string_to_array(s, ',')) AND m.deleted_at IS NULL
      JOIN domains d ON d.id = m.domain_id
    HAVING count(*) > 0
$$;

-- What Dovecot asks for every delivery and login, in plpgsql, which keeps its plans for as long as Dovecot keeps the
-- connection.
CREATE OR REPLACE FUNCTION mta_user(p_local text, p_domain text)
RETURNS TABLE (login text, mailbox_id uuid, quota_bytes bigint, plus_delimiter text, access_version bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key, m.id, m.quota_bytes, d.plus_delimiter, greatest(d.access_version, m.access_version)
          FROM domains d
          CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
          JOIN mailboxes m ON m.id = r.id
         WHERE d.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3) AND m.active AND d.active;
END
$$;

-- The same for a login, by the mailbox's own address only, with its password's hash, where the mailbox may use the
-- protocol: imap, pop3, sieve (ManageSieve), smtp (submission).
CREATE OR REPLACE FUNCTION mta_login(p_local text, p_domain text, p_protocol text)
RETURNS TABLE (login text, password text, mailbox_id uuid, quota_bytes bigint, access_version bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key || CASE p_protocol WHEN 'smtp' THEN '/' || v.access_version ELSE '' END,
               m.password_hash, m.id, m.quota_bytes, v.access_version
          FROM domains d
          JOIN mailboxes m ON m.domain_id = d.id
          CROSS JOIN LATERAL (SELECT greatest(d.access_version, m.access_version) AS access_version) v
         WHERE d.name = lower(p_domain COLLATE "C") AND d.active
           AND m.local_key = mailkeep_fold(p_local) AND m.deleted_at IS NULL AND m.active
           AND CASE p_protocol WHEN 'imap' THEN m.imap WHEN 'pop3' THEN m.pop3 WHEN 'sieve' THEN m.sieve
                               WHEN 'smtp' THEN m.smtp ELSE false END;
END
$$;

-- Every mailbox, for the tools that go through all of them.
CREATE OR REPLACE FUNCTION mta_users() RETURNS TABLE (login text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT m.address_key
      FROM mailboxes m JOIN domains d ON d.id = m.domain_id
     WHERE m.deleted_at IS NULL AND m.active AND d.active
$$;
