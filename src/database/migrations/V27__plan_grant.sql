-- What shows the plans of queries: their SQL, with the values of their parameters, and the indexes that they use. It is
-- granted to nobody.

INSERT INTO orderql.artifact_group (artifact_group_id, path)
VALUES ('PLAN', '/graphql/plan')
ON CONFLICT DO NOTHING;
