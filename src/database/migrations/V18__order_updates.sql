-- The order update: what was asked and changed, answers that a repeat is given again, and ids for the rows that it makes.

CREATE TABLE IF NOT EXISTS orderql.order_update (
    order_update_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    user_id         TEXT NOT NULL,
    address         TEXT,
    request         JSONB NOT NULL,
    changes         JSONB NOT NULL
);
CREATE INDEX IF NOT EXISTS order_update_at ON orderql.order_update (updated_at);
COMMENT ON TABLE orderql.order_update IS 'the audit of POST /api/updateOrder: one row for each update that was applied';

CREATE TABLE IF NOT EXISTS orderql.idempotent_answer (
    user_id     TEXT NOT NULL,
    key         TEXT NOT NULL,
    request     TEXT NOT NULL,
    answered_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    status      SMALLINT,
    body        TEXT,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX IF NOT EXISTS idempotent_answer_at ON orderql.idempotent_answer (answered_at);
COMMENT ON COLUMN orderql.idempotent_answer.request IS 'the parameters, so that a key is not used for two requests';

-- Ids that OFBiz's own sequences never give, because they begin with a letter.
CREATE SEQUENCE IF NOT EXISTS orderql.entity_id START 10000;

-- Stock: the statuses that the update sets beside those of V14, for databases that OFBiz's own data was not loaded into.
INSERT INTO status_type (status_type_id, has_table, description)
VALUES
    ('SHPRTSG_CS_STATUS', 'N', 'ShipmentRouteSegment:CarrierService')
ON CONFLICT DO NOTHING;

INSERT INTO status_item (status_id, status_type_id, status_code, sequence_id, description)
VALUES
    ('PICKITEM_CANCELLED', 'PICKITEM_STATUS',   'CANCELLED',   '99', 'Cancelled'),
    ('SHRSCS_NOT_STARTED', 'SHPRTSG_CS_STATUS', 'NOT_STARTED', '01', 'Not Started')
ON CONFLICT DO NOTHING;
