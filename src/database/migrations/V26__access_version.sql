-- A number that every change of accounts, groups, grants and limits raises, in the transaction of the change. Servers read it once
-- a second, so that they notice the change where no notification arrives: behind a pooler, and on a standby.

CREATE TABLE IF NOT EXISTS orderql.access_version (
    only_row BOOLEAN NOT NULL PRIMARY KEY DEFAULT true CHECK (only_row),
    version  BIGINT NOT NULL DEFAULT 1
);
COMMENT ON COLUMN orderql.access_version.only_row IS 'always true, so that there is one row';

INSERT INTO orderql.access_version DEFAULT VALUES
ON CONFLICT DO NOTHING;

-- It says nothing about anybody. Roles that serve already need no further grant.
GRANT SELECT ON orderql.access_version TO PUBLIC;

-- With the rights of its owner, so that a role that may change accounts needs none on the version.
CREATE OR REPLACE FUNCTION orderql.tell_access_changed() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE orderql.access_version SET version = version + 1;
    NOTIFY orderql_access;
    RETURN NULL;
END;
$$;
