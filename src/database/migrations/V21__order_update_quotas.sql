-- The order update: limits of single users, and responses to repeated requests stored as a hash and an outcome instead of
-- the parameters and a body.

ALTER TABLE orderql.user_profile
    ADD COLUMN IF NOT EXISTS concurrent_updates INTEGER CHECK (concurrent_updates > 0),
    ADD COLUMN IF NOT EXISTS idempotency_keys   INTEGER CHECK (idempotency_keys > 0);

ALTER TABLE orderql.idempotent_answer
    ADD COLUMN IF NOT EXISTS request_hash BYTEA,
    ADD COLUMN IF NOT EXISTS outcome      TEXT CHECK (outcome IN ('APPLIED', 'NOT_FOUND', 'CONFLICT')),
    ADD COLUMN IF NOT EXISTS errors       TEXT[];

-- The stored responses of the last day stay valid.
UPDATE orderql.idempotent_answer
SET request_hash = sha256(convert_to(request, 'UTF8')),
    outcome = CASE status WHEN 200 THEN 'APPLIED' WHEN 404 THEN 'NOT_FOUND' ELSE 'CONFLICT' END,
    errors = CASE WHEN status <> 200 THEN ARRAY(
        SELECT jsonb_array_elements_text(body::jsonb -> '_ERROR_MESSAGE_LIST_')
    ) END;

ALTER TABLE orderql.idempotent_answer
    ALTER COLUMN request_hash SET NOT NULL,
    DROP COLUMN IF EXISTS request,
    DROP COLUMN IF EXISTS status,
    DROP COLUMN IF EXISTS body;

COMMENT ON COLUMN orderql.idempotent_answer.request_hash IS 'SHA-256 of the parameters, so that a key is not used for two requests';
COMMENT ON COLUMN orderql.idempotent_answer.errors IS 'the messages of a rejected update; the response to an applied one follows from its parameters';

-- The keys of a user, which are counted. The one on the time alone serves the deletion of expired keys.
CREATE INDEX IF NOT EXISTS idempotent_answer_of_user ON orderql.idempotent_answer (user_id, answered_at);
