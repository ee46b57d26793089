-- What is granted by a name that a schema file gives, beside the paths: the names of the built-in schema. Every group that may use the
-- GraphQL API gets them, so that its members see what they saw.

COMMENT ON COLUMN orderql.artifact_group.path IS
    'a path of the API, which begins with a slash, or a name of @grant in a schema file, which does not';

-- Only what is new is granted: it may have been withdrawn since the tables of the service were migrated alone.
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
