-- The privileges of all roles. Applied last; privileges that are not granted here are revoked. Roles that do not exist (a database
-- that Mailkeep did not create) are skipped.
--
-- mailkeep_app        the application. It reads and inserts audit entries and never changes one.
-- mailkeep_audit      seals and prunes the audit log, which the application may not.
-- mailkeep_postfix,
-- mailkeep_dovecot    execute the functions that their daemon queries (mail/daemons/render.py and templates), and
--                     read no table; Dovecot reads one view, mta_sieve_scripts.
--
-- Partitions are only accessed through their parents and have no grants of their own.

DO $$
DECLARE
    role           text;
    object         text;
    function       regprocedure;
    audit_columns  text := (SELECT string_agg(quote_ident(a.attname), ', ') FROM pg_attribute a
                             WHERE a.attrelid = 'audit_entries'::regclass AND a.attnum > 0 AND NOT a.attisdropped
                               AND a.attname <> 'tx');  -- the transaction of an entry can't be chosen
    mail_functions jsonb := '{
        "mailkeep_postfix": ["mta_decode(text)", "mta_encode(text)", "mta_domain(text)", "mta_mailbox(text, text)",
                             "mta_route(text, text)", "mta_recipient(text, text)", "mta_domain_inactive(text, text)",
                             "mta_relay(text, text)", "mta_senders(text, text)"],
        "mailkeep_dovecot": ["mta_user(text, text, text, text)", "mta_login(text, text, text)",
                             "mta_app_login(text, text, text, text)", "mta_key_login(text, text, text, text)",
                             "mta_users()"]}';
BEGIN
    -- PUBLIC executes no function that runs with the owner's rights.
    FOR function IN SELECT p.oid FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosecdef LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', function);
    END LOOP;
    REVOKE EXECUTE ON FUNCTION ensure_partition(text, timestamptz), drop_months(text, timestamptz) FROM PUBLIC;

    FOR role IN
        SELECT r.rolname FROM pg_roles r
         WHERE r.rolname IN ('mailkeep_app', 'mailkeep_audit', 'mailkeep_postfix', 'mailkeep_dovecot')
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', role);
        EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM %I', role);
        EXECUTE format('REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM %I', role);
        FOR function IN
            SELECT p.oid FROM pg_proc p
             WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = current_user::regrole
        LOOP
            EXECUTE format('REVOKE ALL ON FUNCTION %s FROM %I', function, role);
            IF role = 'mailkeep_app' AND function NOT IN (
                   'ensure_partition(text, timestamptz)'::regprocedure, 'drop_months(text, timestamptz)'::regprocedure,
                   'drop_audit_months()'::regprocedure) THEN
                EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', function, role);
            END IF;
        END LOOP;
        FOR object IN SELECT f FROM jsonb_array_elements_text(mail_functions->role) f LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', object, role);
        END LOOP;

        IF role = 'mailkeep_app' THEN
            FOR object IN
                SELECT c.oid::regclass FROM pg_class c
                 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
            LOOP
                EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO mailkeep_app', object);
            END LOOP;
            GRANT USAGE ON SEQUENCE access_versions TO mailkeep_app;
            REVOKE INSERT, UPDATE, DELETE ON schema_migrations, schema_functions, audit_seals, audit_entries
              FROM mailkeep_app;
            EXECUTE format('GRANT INSERT (%s) ON audit_entries TO mailkeep_app', audit_columns);
            REVOKE UPDATE, DELETE ON revoked_api_keys FROM mailkeep_app;
        ELSIF role = 'mailkeep_dovecot' THEN
            GRANT SELECT ON mta_sieve_scripts TO mailkeep_dovecot;
        ELSIF role = 'mailkeep_audit' THEN
            GRANT SELECT ON audit_entries TO mailkeep_audit;
            EXECUTE format('GRANT INSERT (%s) ON audit_entries TO mailkeep_audit', audit_columns);
            GRANT SELECT, INSERT ON audit_seals TO mailkeep_audit;
            GRANT SELECT, INSERT, UPDATE, DELETE ON prune_checks TO mailkeep_audit;
            GRANT EXECUTE ON FUNCTION drop_audit_months() TO mailkeep_audit;
        END IF;
    END LOOP;
END
$$;
