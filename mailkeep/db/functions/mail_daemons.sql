-- The queries of Postfix and Dovecot. Each function runs with the owner's rights: the daemons' roles execute their
-- functions and read no table (grants.sql). Addresses come as local part and domain (Postfix's %u and %d), not
-- folded. Frequent queries are in plpgsql, which keeps their plans as long as the daemon keeps its connection.

-- Decodes a parameter from Postfix. Its client (dict_pgsql) sets the encoding LATIN1 although it sends and expects
-- UTF-8 (RFC 6531), so each byte arrives as a character. Text that is ASCII or not UTF-8 is returned unchanged.
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

-- Encodes a result for Postfix, the reverse of mta_decode. A result outside Latin-1 would fail the query, and all
-- queries of that Postfix process for a minute.
CREATE OR REPLACE FUNCTION mta_encode(p_text text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN octet_length(p_text) = length(p_text) OR current_setting('client_encoding') <> 'LATIN1' THEN p_text
                ELSE convert_from(convert_to(p_text, 'UTF8'), 'LATIN1') END
$$;

-- Whether Postfix accepts mail for a domain: managed domains, active or not (mta_recipient answers 450 for an
-- inactive one), and the server's hostname, which has postmaster, abuse, and addresses for reports.
CREATE OR REPLACE FUNCTION mta_domain(p_domain text) RETURNS SETOF integer
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF route_is_ours(p_domain) THEN
        RETURN NEXT 1;
    END IF;
END
$$;

-- The mailbox that an address matches, with or without its tag, active or not; for an alias domain, in its target.
-- Aliases do not count.
CREATE OR REPLACE FUNCTION mta_mailbox_of(p_local text, p_domain text) RETURNS SETOF mailboxes LANGUAGE sql STABLE AS $$
    SELECT m.*
      FROM domains n
      JOIN domains d ON d.id = coalesce(n.alias_of, n.id)
      CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
      JOIN mailboxes m ON m.id = r.id
     WHERE n.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3)
$$;

-- Whether an address is a mailbox. Other destinations of mta_route are external.
CREATE OR REPLACE FUNCTION mta_mailbox(p_local text, p_domain text) RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 1 FROM mta_mailbox_of(p_local, p_domain) m WHERE m.active
$$;

-- The final destinations of an address, separated by commas: mailboxes (with the tag; the address itself for a
-- mailbox that keeps a copy) and external addresses. No row if there are none.
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

-- The access(5) action for a recipient, on the ports for other servers and for mail clients: a reply if the recipient
-- is rejected; else the restriction classes that query the policy agent: `expanding` if the recipient has external
-- destinations or the message size matters, `denying` if a deny entry may apply. No row if there is nothing to check, as
-- for domains that are not managed. The embedded listener has the same replies (mailkeep/features/mailflow/receiving/rules).
CREATE OR REPLACE FUNCTION mta_recipient(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    plain  record := route_plain(p_local, p_domain);
    denies boolean := false;
    filter record;
BEGIN
    IF plain.quota_bytes = 0 OR (plain.used_bytes < plain.quota_bytes
                                 AND plain.quota_bytes >= (SELECT s.message_size FROM routing_settings s)) THEN
        IF route_has_deny_entries(ARRAY[plain.mailbox_id], ARRAY[plain.domain_id]) THEN
            RETURN NEXT 'denying';
        END IF;
        RETURN;
    END IF;
    IF NOT route_is_ours(p_domain) THEN
        RETURN;
    END IF;
    -- Without any deny entry, nobody's are looked for.
    IF EXISTS (SELECT FROM filter_entries e WHERE e.list = 'deny') THEN
        filter := route_filters(p_local || '@' || p_domain);
        denies := route_has_deny_entries(filter.mailbox_ids, filter.domain_ids || filter.forwarding_id);
    END IF;
    RETURN QUERY
        SELECT CASE r.decision
                   WHEN 'deliver' THEN concat_ws(', ', CASE WHEN denies THEN 'denying' END,
                                                 CASE WHEN r.external > 0 OR r.depends_on_size THEN 'expanding' END)
                   WHEN 'unknown_user' THEN '550 5.1.1 User unknown'
                   WHEN 'mailbox_inactive' THEN '550 5.2.1 Mailbox disabled'
                   WHEN 'receiving_disabled' THEN '550 5.7.1 The domain does not accept mail'
                   WHEN 'domain_inactive' THEN '450 4.2.1 The domain is inactive; try again later'
                   WHEN 'no_administrator' THEN '451 4.3.5 No administrator has an address that receives mail'
                   WHEN 'expansion_limit' THEN '550 5.7.1 The address has too many external destinations'
                   WHEN 'too_many_destinations' THEN '550 5.7.1 The address has too many destinations'
                   WHEN 'mailbox_full' THEN '452 4.2.2 Mailbox full' END
          FROM route_recipient(p_local || '@' || p_domain, 0) r
         WHERE r.decision NOT IN ('not_managed', 'bounce')
           AND (r.decision <> 'deliver' OR r.external > 0 OR r.depends_on_size OR denies);
END
$$;

-- The access(5) action for a recipient on the ports where the API and local users submit mail: a temporary rejection
-- if the recipient's domain is inactive. Other undeliverable recipients are accepted there and bounce.
CREATE OR REPLACE FUNCTION mta_domain_inactive(p_local text, p_domain text) RETURNS SETOF text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM domains n JOIN domains d ON d.id IN (n.id, n.alias_of)
                WHERE n.name = lower(p_domain COLLATE "C") AND NOT d.active) THEN
        RETURN QUERY
            SELECT '450 4.2.1 The domain is inactive; try again later'
              FROM route_address(p_local || '@' || p_domain) r
             WHERE r.decision = 'domain_inactive';
    END IF;
END
$$;

-- Whether mail with this envelope sender is sent through the relay of the sender's domain. Forwarded mail, with a
-- rewritten sender (SRS), is not.
CREATE OR REPLACE FUNCTION mta_relay(p_local text, p_domain text) RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 1
      FROM domains d
     WHERE d.name = lower(p_domain COLLATE "C") AND d.relay_host IS NOT NULL AND p_local !~* '^SRS[01][-+=]'
$$;

-- The time, for queries of daemons, which can't pass it.
CREATE OR REPLACE FUNCTION mta_time() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT clock_timestamp() $$;

-- The mailbox for a delivery by Dovecot (p_access is ''). The address may have a tag; `login` is the folded address
-- without it. Dovecot also queries it after a login, with the access that the password opened: the session opens only
-- if that has not changed meanwhile. The login of an app password's session ends with its number
-- (`alice@example.org/23`).
CREATE OR REPLACE FUNCTION mta_user(p_local text, p_domain text, p_protocol text, p_access text)
RETURNS TABLE (login text, mailbox_id uuid, quota_bytes bigint, plus_delimiter text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT m.address_key || substring(p_access FROM '/.*$|$'), m.id, m.quota_bytes, d.plus_delimiter
          FROM domains d
          CROSS JOIN LATERAL route_match(d.id, d.plus_delimiter, replace(mailkeep_fold(p_local), '@', ' ')) r
          JOIN mailboxes m ON m.id = r.id
         WHERE d.name = lower(p_domain COLLATE "C") AND r.rank IN (1, 3) AND m.active AND d.active
           AND (p_access = '' OR p_access IN (SELECT a FROM session_accesses(m.id, p_protocol, mta_time()) a));
END
$$;

-- The mailbox with this exact address, and the start of its logins, if a protocol is allowed: imap, pop3, sieve
-- (ManageSieve), smtp (submission).
CREATE OR REPLACE FUNCTION mta_login_mailbox(p_local text, p_domain text, p_protocol text)
RETURNS TABLE (mailbox mailboxes, access_version bigint, app_passwords_only boolean) LANGUAGE sql STABLE AS $$
    SELECT m, greatest(d.access_version, m.access_version),
           requires_app_passwords(m.require_app_passwords, d.require_app_passwords, m.second_factor)
      FROM domains d
      JOIN mailboxes m ON m.domain_id = d.id
     WHERE d.name = lower(p_domain COLLATE "C") AND d.active
       AND m.local_key = mailkeep_fold(p_local) AND m.deleted_at IS NULL AND m.active
       AND NOT is_restricted('sign_in', m.id)
       AND CASE p_protocol WHEN 'imap' THEN m.imap WHEN 'pop3' THEN m.pop3 WHEN 'sieve' THEN m.sieve
                           WHEN 'smtp' THEN m.smtp ELSE false END
$$;

-- The mailbox and the hash of its own password for a login; no hash if it has none yet, or requires app passwords.
-- The login of a submission session has the access appended (`alice@example.org/17`, see session_accesses), because
-- Postfix passes nothing else on.
CREATE OR REPLACE FUNCTION mta_login(p_local text, p_domain text, p_protocol text)
RETURNS TABLE (login text, password text, mailbox_id uuid, quota_bytes bigint, access text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN QUERY
        SELECT (l.mailbox).address_key || CASE p_protocol WHEN 'smtp' THEN '/' || v ELSE '' END,
               CASE WHEN NOT l.app_passwords_only THEN nullif((l.mailbox).password_hash, '') END,
               (l.mailbox).id, (l.mailbox).quota_bytes, v::text
          FROM mta_login_mailbox(p_local, p_domain, p_protocol) l
          CROSS JOIN LATERAL greatest(l.access_version, (l.mailbox).password_version) v;
END
$$;

-- The mailbox for a login with an app password, by the SHA-256 of the password in hexadecimal: PostgreSQL never gets the
-- password itself. Anything else matches nothing.
CREATE OR REPLACE FUNCTION mta_app_login(p_local text, p_domain text, p_protocol text, p_digest text)
RETURNS TABLE (login text, mailbox_id uuid, quota_bytes bigint, access text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF p_digest !~ '^[0-9a-f]{64}$' THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT (l.mailbox).address_key || CASE p_protocol WHEN 'smtp' THEN '/' || a ELSE '' END,
               (l.mailbox).id, (l.mailbox).quota_bytes, a
          FROM mta_login_mailbox(p_local, p_domain, p_protocol) l
          JOIN app_passwords p ON p.mailbox_id = (l.mailbox).id AND p.digest = decode(p_digest, 'hex')
          CROSS JOIN LATERAL concat(l.access_version, '/', p.number) a
         WHERE p_protocol = ANY (p.protocols) AND (p.expires_at IS NULL OR p.expires_at > mta_time())
           AND NOT is_restricted('app_password', p.id);
END
$$;

-- The Sieve script of a mailbox that Mailkeep manages, which runs before the owner's: its vacation reply, while that is
-- active. While an incident disables Sieve, it is a script that delivers the message itself, so that no other one runs.
-- Dovecot's dict queries it by mailbox and name at each delivery; a parameter of a function it could not pass. `script_id`
-- changes with the script. Without is_restricted, which would need Dovecot's own rights.
CREATE OR REPLACE VIEW mta_sieve_scripts AS
    SELECT m.address_key AS login, 'managed' AS name, v.script_id, v.script
      FROM vacations v JOIN mailboxes m ON m.id = v.mailbox_id
     WHERE v.active AND m.deleted_at IS NULL
       AND (v.start_at IS NULL OR v.start_at <= mta_time()) AND (v.end_at IS NULL OR v.end_at > mta_time())
       AND NOT EXISTS (SELECT FROM restrictions r WHERE r.kind = 'sieve' AND r.subject = m.id::text)
    UNION ALL
    SELECT m.address_key, 'managed', 'disabled', 'require "fileinto"; fileinto "INBOX";'
      FROM mailboxes m
     WHERE m.deleted_at IS NULL
       AND EXISTS (SELECT FROM restrictions r WHERE r.kind = 'sieve' AND r.subject = m.id::text);

-- All active mailboxes, for tools that iterate over users.
CREATE OR REPLACE FUNCTION mta_users() RETURNS TABLE (login text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT m.address_key
      FROM mailboxes m JOIN domains d ON d.id = m.domain_id
     WHERE m.deleted_at IS NULL AND m.active AND d.active
$$;
