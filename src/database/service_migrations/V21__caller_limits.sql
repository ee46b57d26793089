-- Limits of single users, beside those of V15: the first statement of the order tables' migration of the same number.

ALTER TABLE orderql.user_profile
    ADD COLUMN IF NOT EXISTS concurrent_updates INTEGER CHECK (concurrent_updates > 0),
    ADD COLUMN IF NOT EXISTS idempotency_keys   INTEGER CHECK (idempotency_keys > 0);
