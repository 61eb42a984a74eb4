-- The relay that takes a domain's outbound mail, in the place of `outbound.relay` or the recipients' own servers. Its
-- password is sealed with the master secret and bound to the domain's id.
ALTER TABLE domains
    ADD COLUMN relay_host     text,
    ADD COLUMN relay_port     integer CONSTRAINT domains_relay_port CHECK (relay_port BETWEEN 1 AND 65535),
    ADD COLUMN relay_tls      text CONSTRAINT domains_relay_tls CHECK (relay_tls IN ('none', 'starttls', 'tls')),
    ADD COLUMN relay_username text,
    ADD COLUMN relay_password bytea,
    ADD CONSTRAINT domains_relay_whole CHECK (num_nulls(relay_host, relay_port, relay_tls, relay_username) IN (0, 4)),
    ADD CONSTRAINT domains_relay_secret
        CHECK (relay_username IS NULL OR relay_username = '' OR relay_tls <> 'none'),
    ADD CONSTRAINT domains_relay_password_of_user
        CHECK (relay_password IS NULL OR coalesce(relay_username, '') <> '');

-- A recipient that a relay took is `relayed`: its delivery is not known.
ALTER TABLE message_attempts DROP CONSTRAINT message_attempts_kind;
ALTER TABLE message_attempts ADD CONSTRAINT message_attempts_kind
    CHECK (kind IN ('delivered', 'relayed', 'deferred', 'bounced', 'failed', 'lost', 'unknown'));

-- Whether mail with this envelope sender leaves by a relay of the sender's domain. A rewritten sender (SRS) is that of
-- forwarded mail, which does not.
CREATE FUNCTION mta_relay(p_local text, p_domain text) RETURNS SETOF integer
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT 1
      FROM domains d
     WHERE d.name = lower(p_domain COLLATE "C") AND d.relay_host IS NOT NULL AND p_local !~* '^SRS[01][-+=]'
$$;
REVOKE EXECUTE ON FUNCTION mta_relay(text, text) FROM PUBLIC;

-- Senders at the server's host name can be suspended although it need not be a managed domain (`mailkeep sendmail`).
ALTER TABLE suspensions ALTER COLUMN domain_id DROP NOT NULL;

-- The domain of a suspension, held until the transaction ends: one row, or none where it is gone. NULL is no domain.
CREATE FUNCTION suspendable_domain(p_domain_id uuid) RETURNS TABLE (id uuid) LANGUAGE plpgsql AS $$
BEGIN
    IF p_domain_id IS NULL THEN
        RETURN QUERY SELECT NULL::uuid;
    ELSE
        RETURN QUERY SELECT d.id FROM domains d WHERE d.id = p_domain_id FOR KEY SHARE;
    END IF;
END
$$;
