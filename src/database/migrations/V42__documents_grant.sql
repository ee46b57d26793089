-- The GraphQL API for documents that the server knows, and for no others. It is granted to nobody: who has a grant on `/graphql` may
-- send any text.

INSERT INTO orderql.artifact_group (artifact_group_id, path)
VALUES ('DOCUMENTS', '/graphql/documents')
ON CONFLICT DO NOTHING;
