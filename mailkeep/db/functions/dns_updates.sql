-- Makes the update of a domain's or host's DNS records due at once, if there is one.
CREATE OR REPLACE FUNCTION request_dns_update(p_subject text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE dns_updates u SET next_attempt_at = 'epoch', failures = 0 WHERE u.subject = p_subject;
    IF FOUND THEN
        PERFORM wake_workers('dns_updates');
    END IF;
END
$$;

-- A domain that Mailkeep publishes gets an update job. When that ends, or the domain is deleted, the job removes its records.
CREATE OR REPLACE FUNCTION domains_update_dns() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.dns_managed THEN
        INSERT INTO dns_updates (id, subject, state, next_attempt_at) VALUES (NEW.id, NEW.name, 'waiting', 'epoch')
        ON CONFLICT (subject) DO NOTHING;
    END IF;
    PERFORM request_dns_update(CASE WHEN TG_OP = 'DELETE' THEN OLD.name ELSE NEW.name END);
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER domains_update_dns
    AFTER INSERT OR DELETE OR UPDATE OF dns_managed, dkim_delegated, sending_enabled, receiving_enabled ON domains
    FOR EACH ROW EXECUTE FUNCTION domains_update_dns();

-- A changed key changes the records of its domain, and if it is delegated those of the server.
CREATE OR REPLACE FUNCTION dkim_keys_update_dns() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    key dkim_keys := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    IF key.cname IS NOT NULL THEN
        PERFORM request_dns_update(split_part(key.cname, '._domainkey.', 2));
    END IF;
    PERFORM request_dns_update(d.name) FROM domains d WHERE d.id = key.domain_id;
    RETURN NULL;
END
$$;
CREATE OR REPLACE TRIGGER dkim_keys_update_dns AFTER INSERT OR DELETE OR UPDATE OF stage ON dkim_keys
    FOR EACH ROW EXECUTE FUNCTION dkim_keys_update_dns();
