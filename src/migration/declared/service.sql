-- The functions, triggers and rows of the service's tables.

--- trigger_function orderql.tell_access_changed
-- With the rights of its owner, so that a role that may change accounts needs none on the version.
CREATE OR REPLACE FUNCTION orderql.tell_access_changed() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE orderql.access_version SET version = version + 1;
    NOTIFY orderql_access;
    RETURN NULL;
END;
$$;

--- function orderql.prune_audit_events
-- Removes the oldest of the events of the audit trail that are older than `keep`, `batch` of them at most, and returns their number. What servers
-- that do it at the same time have locked is left to them. A role that may call it can remove nothing else, and nothing of the last day.
CREATE OR REPLACE FUNCTION orderql.prune_audit_events(keep interval, batch bigint) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH removed AS (
        DELETE FROM orderql.audit_event
        WHERE event_id = ANY (ARRAY(
            SELECT event_id FROM orderql.audit_event
            WHERE at < now() - GREATEST(keep, interval '1 day')
            ORDER BY at LIMIT batch FOR UPDATE SKIP LOCKED
        ))
        RETURNING 1
    )
    SELECT count(*) FROM removed
$$;
REVOKE EXECUTE ON FUNCTION orderql.prune_audit_events FROM PUBLIC;

--- triggers orderql.user_account: tell_access_changed
CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.user_account
FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed();

--- triggers orderql.user_group: tell_access_changed
CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.user_group
FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed();

--- triggers orderql.group_member: tell_access_changed
CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.group_member
FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed();

--- triggers orderql.artifact_group: tell_access_changed
CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.artifact_group
FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed();

--- triggers orderql.artifact_grant: tell_access_changed
CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.artifact_grant
FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed();

--- triggers orderql.user_profile: tell_access_changed
CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.user_profile
FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed();

--- triggers orderql.group_scope: tell_access_changed
CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.group_scope
FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed();

--- rows orderql.access_version
INSERT INTO orderql.access_version DEFAULT VALUES
ON CONFLICT DO NOTHING;

--- rows orderql.user_group
-- A group that may use all of the API, in a database that has no grants yet.
WITH made AS (
    INSERT INTO orderql.user_group (group_id, description)
    SELECT 'API', 'May use all of the API'
    WHERE NOT EXISTS (SELECT FROM orderql.artifact_group)
    ON CONFLICT DO NOTHING
    RETURNING group_id
), paths AS (
    INSERT INTO orderql.artifact_group (artifact_group_id, path)
    VALUES ('GRAPHQL', '/graphql'), ('UPDATE_ORDER', '/api/updateOrder')
    ON CONFLICT DO NOTHING
    RETURNING artifact_group_id
)
INSERT INTO orderql.artifact_grant (group_id, artifact_group_id)
SELECT group_id, artifact_group_id FROM made CROSS JOIN paths;

--- rows orderql.artifact_group
-- What nobody is granted at first: `PLAN` shows the plans of queries, with their SQL, the values of their parameters and the indexes that
-- they use; `DOCUMENTS` is the GraphQL API for documents that the server knows, and for no others.
INSERT INTO orderql.artifact_group (artifact_group_id, path)
VALUES ('PLAN', '/graphql/plan'), ('DOCUMENTS', '/graphql/documents')
ON CONFLICT DO NOTHING;

--- rows orderql.artifact_grant
-- The names that the built-in schema gives to what it grants. Every group that may use the GraphQL API gets a name that is new, so that its
-- members see what they saw; one that is there may have been withdrawn from them since.
WITH named AS (
    INSERT INTO orderql.artifact_group (artifact_group_id, path)
    VALUES ('@NOTES', 'NOTES'), ('@PAYMENTS', 'PAYMENTS'), ('@PERSONAL_DATA', 'PERSONAL_DATA')
    ON CONFLICT DO NOTHING
    RETURNING artifact_group_id
)
INSERT INTO orderql.artifact_grant (group_id, artifact_group_id)
SELECT given.group_id, named.artifact_group_id
FROM orderql.artifact_grant AS given
JOIN orderql.artifact_group AS api ON api.artifact_group_id = given.artifact_group_id AND api.path = '/graphql'
CROSS JOIN named;

--- rows orderql.group_scope
-- Likewise for the scopes of the built-in schema, if the database had none before: it has a secret if it had.
INSERT INTO orderql.group_scope (group_id, scope, value)
SELECT DISTINCT given.group_id, scope.name, '*'
FROM orderql.artifact_grant AS given
JOIN orderql.artifact_group AS api USING (artifact_group_id)
CROSS JOIN (VALUES ('facility'), ('store')) AS scope (name)
WHERE api.path IN ('/graphql', '/api/updateOrder') AND NOT EXISTS (SELECT FROM orderql.cursor_secret)
ON CONFLICT DO NOTHING;
INSERT INTO orderql.cursor_secret DEFAULT VALUES
ON CONFLICT DO NOTHING;

--- rights of everybody
-- These say nothing about anybody. Roles that serve already need no further grant.
GRANT SELECT ON orderql.access_version, orderql.schema_state, orderql.schema_object TO PUBLIC;

--- comments on orderql.user_account and others
COMMENT ON COLUMN orderql.user_profile.restore_rate IS 'credits a second';
COMMENT ON COLUMN orderql.artifact_group.path IS
    'a path of the API, which begins with a slash, or a name of @grant in a schema file, which does not';
COMMENT ON COLUMN orderql.audit_event.actor IS 'the service, or cli: and the user of the system that ran the command';
COMMENT ON COLUMN orderql.audit_event.subject IS 'the user or group; null where a login named no account';
COMMENT ON COLUMN orderql.access_version.only_row IS 'always true, so that there is one row';
COMMENT ON COLUMN orderql.cursor_secret.only_row IS 'always true, so that there is one row';
COMMENT ON COLUMN orderql.group_scope.scope IS 'the name of a scope in a schema file';
COMMENT ON COLUMN orderql.group_scope.value IS 'what the scope''s column has in rows that members see; * for every row';
