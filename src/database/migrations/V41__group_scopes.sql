-- Which rows the members of a group see of the types that a schema file limits by @scope: a value of the scope each, or all of them. A group
-- without values in a scope sees none of its rows. Every group that may use the API or update orders gets all values of the scopes of the
-- built-in schema, so that its members see what they saw.

CREATE TABLE IF NOT EXISTS orderql.group_scope (
    group_id TEXT NOT NULL REFERENCES orderql.user_group ON DELETE CASCADE,
    scope    TEXT NOT NULL CHECK (scope <> '' AND position('=' IN scope) = 0),
    value    TEXT NOT NULL,
    PRIMARY KEY (group_id, scope, value)
);
COMMENT ON COLUMN orderql.group_scope.scope IS 'the name of a scope in a schema file';
COMMENT ON COLUMN orderql.group_scope.value IS 'what the scope''s column has in rows that members see; * for every row';

CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.group_scope
FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed();

-- Where rows are limited, a search can end with a row that its caller does not see: the cursor of that place is sealed with this.
CREATE TABLE IF NOT EXISTS orderql.cursor_secret (
    only_row BOOLEAN NOT NULL PRIMARY KEY DEFAULT true CHECK (only_row),
    secret   BYTEA NOT NULL CHECK (length(secret) = 32)
        DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))
);
COMMENT ON COLUMN orderql.cursor_secret.only_row IS 'always true, so that there is one row';

INSERT INTO orderql.cursor_secret DEFAULT VALUES
ON CONFLICT DO NOTHING;

-- Roles that serve already may read both as they may read what is granted.
DO $$
DECLARE
    reader name;
BEGIN
    FOR reader IN
        SELECT DISTINCT role.rolname
        FROM pg_catalog.pg_class AS class
        CROSS JOIN LATERAL pg_catalog.aclexplode(class.relacl) AS acl
        JOIN pg_catalog.pg_roles AS role ON role.oid = acl.grantee
        WHERE class.oid = 'orderql.artifact_grant'::regclass AND acl.privilege_type = 'SELECT'
    LOOP
        EXECUTE format('GRANT SELECT ON orderql.group_scope, orderql.cursor_secret TO %I', reader);
    END LOOP;
END;
$$;

INSERT INTO orderql.group_scope (group_id, scope, value)
SELECT DISTINCT given.group_id, scope.name, '*'
FROM orderql.artifact_grant AS given
JOIN orderql.artifact_group AS api USING (artifact_group_id)
CROSS JOIN (VALUES ('facility'), ('store')) AS scope (name)
WHERE api.path IN ('/graphql', '/api/updateOrder')
ON CONFLICT DO NOTHING;
