-- Who may do what: accounts, groups, the artifacts that a group may use, and the limits of single users. The service holds
-- all of it in memory, and reads it again when one of these tables changes. Beside it, what was done with it.

CREATE TABLE IF NOT EXISTS orderql.user_account (
    user_id       TEXT NOT NULL PRIMARY KEY,
    password_hash TEXT NOT NULL,
    disabled      BOOLEAN NOT NULL DEFAULT false,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    changed_at    TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS orderql.user_group (
    group_id    TEXT NOT NULL PRIMARY KEY,
    description TEXT
);

CREATE TABLE IF NOT EXISTS orderql.group_member (
    group_id TEXT NOT NULL REFERENCES orderql.user_group ON DELETE CASCADE,
    user_id  TEXT NOT NULL REFERENCES orderql.user_account ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX IF NOT EXISTS group_member_user ON orderql.group_member (user_id);

-- What a grant is given on: one path each.
CREATE TABLE IF NOT EXISTS orderql.artifact_group (
    artifact_group_id TEXT NOT NULL PRIMARY KEY,
    path              TEXT NOT NULL UNIQUE
);

CREATE TABLE IF NOT EXISTS orderql.artifact_grant (
    group_id          TEXT NOT NULL REFERENCES orderql.user_group ON DELETE CASCADE,
    artifact_group_id TEXT NOT NULL REFERENCES orderql.artifact_group ON DELETE CASCADE,
    PRIMARY KEY (group_id, artifact_group_id)
);

-- The limits of a user who has others than everybody; null is the default.
CREATE TABLE IF NOT EXISTS orderql.user_profile (
    user_id            TEXT NOT NULL PRIMARY KEY REFERENCES orderql.user_account ON DELETE CASCADE,
    max_cost           BIGINT CHECK (max_cost > 0),
    max_page_size      INTEGER CHECK (max_page_size > 0),
    max_depth          INTEGER CHECK (max_depth > 0),
    bucket_size        BIGINT CHECK (bucket_size > 0),
    restore_rate       BIGINT CHECK (restore_rate > 0),
    deadline_ms        BIGINT CHECK (deadline_ms > 0),
    concurrent_queries INTEGER CHECK (concurrent_queries > 0)
);
COMMENT ON COLUMN orderql.user_profile.restore_rate IS 'credits a second';

-- Logins and changes of the tables above, as they happened. Rows are only ever added.
CREATE TABLE IF NOT EXISTS orderql.audit_event (
    event_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at       TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
    actor    TEXT NOT NULL,
    address  INET,
    action   TEXT NOT NULL,
    subject  TEXT,
    details  JSONB NOT NULL DEFAULT '{}'
);
CREATE INDEX IF NOT EXISTS audit_event_at ON orderql.audit_event (at);
COMMENT ON COLUMN orderql.audit_event.actor IS 'the service, or cli: and the user of the system that ran the command';
COMMENT ON COLUMN orderql.audit_event.subject IS 'the user or group; null where a login named no account';

CREATE OR REPLACE FUNCTION orderql.tell_access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NOTIFY orderql_access;
    RETURN NULL;
END;
$$;

DO $$
DECLARE
    relation text;
BEGIN
    FOREACH relation IN ARRAY ARRAY[
        'user_account', 'user_group', 'group_member', 'artifact_group', 'artifact_grant', 'user_profile'
    ] LOOP
        EXECUTE format(
            'CREATE OR REPLACE TRIGGER tell_access_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON orderql.%I '
            'FOR EACH STATEMENT EXECUTE FUNCTION orderql.tell_access_changed()',
            relation
        );
    END LOOP;
END;
$$;

INSERT INTO orderql.artifact_group (artifact_group_id, path)
VALUES ('GRAPHQL', '/graphql'), ('UPDATE_ORDER', '/api/updateOrder')
ON CONFLICT DO NOTHING;

INSERT INTO orderql.user_group (group_id, description)
VALUES ('API', 'May use all of the API')
ON CONFLICT DO NOTHING;

INSERT INTO orderql.artifact_grant (group_id, artifact_group_id)
VALUES ('API', 'GRAPHQL'), ('API', 'UPDATE_ORDER')
ON CONFLICT DO NOTHING;
