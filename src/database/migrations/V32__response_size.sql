-- How many bytes a response may have.

ALTER TABLE orderql.user_profile ADD COLUMN IF NOT EXISTS response_size BIGINT CHECK (response_size > 0);
