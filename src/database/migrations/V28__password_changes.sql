-- When each password was changed last. Tokens from before are rejected where revoke-on-password-change is on. It is not
-- changed_at, which other changes of the account set as well, and not every new hash: one with new parameters is made for the
-- same password.

ALTER TABLE orderql.user_account ADD COLUMN IF NOT EXISTS password_changed_at TIMESTAMPTZ;
UPDATE orderql.user_account SET password_changed_at = created_at WHERE password_changed_at IS NULL;
ALTER TABLE orderql.user_account
    ALTER COLUMN password_changed_at SET DEFAULT clock_timestamp(),
    ALTER COLUMN password_changed_at SET NOT NULL;
