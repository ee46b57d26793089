-- A limit of single users: the last statement of the order tables' migration of the same number.

ALTER TABLE orderql.user_profile
    ADD COLUMN IF NOT EXISTS updates_per_second INTEGER CHECK (updates_per_second > 0);
