-- Returns: header, items, reasons, and everything that hangs on them.
--
-- A table that stands is left as it is; `V11` adds the columns that a stock OFBiz table lacks.

CREATE TABLE IF NOT EXISTS return_header_type (
    return_header_type_id VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_return_header_type PRIMARY KEY (return_header_type_id)
);

CREATE TABLE IF NOT EXISTS return_type (
    return_type_id        VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    sequence_id           VARCHAR(20),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_return_type PRIMARY KEY (return_type_id)
);

CREATE TABLE IF NOT EXISTS return_reason (
    return_reason_id      VARCHAR(20) NOT NULL,
    description           VARCHAR(255),
    sequence_id           VARCHAR(20),
    -- HotWax's
    parent_type_id        VARCHAR(20),
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_return_reason PRIMARY KEY (return_reason_id)
);

CREATE TABLE IF NOT EXISTS return_header (
    return_id               VARCHAR(20) NOT NULL,
    return_header_type_id   VARCHAR(20),
    status_id               VARCHAR(20),
    created_by              VARCHAR(255),
    from_party_id           VARCHAR(20),
    to_party_id             VARCHAR(20),
    payment_method_id       VARCHAR(20),
    fin_account_id          VARCHAR(20),
    billing_account_id      VARCHAR(20),
    entry_date              TIMESTAMPTZ,
    origin_contact_mech_id  VARCHAR(20),
    destination_facility_id VARCHAR(20),
    needs_inventory_receive CHAR(1),
    currency_uom_id         VARCHAR(20),
    supplier_rma_id         VARCHAR(20),
    -- HotWax's
    external_id             VARCHAR(60),
    return_channel_enum_id  VARCHAR(20),
    transaction_id          VARCHAR(60),
    return_date             TIMESTAMPTZ,
    employee_id             VARCHAR(20),
    terminal_id             VARCHAR(60),
    -- stamps
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_return_header PRIMARY KEY (return_id)
);

CREATE TABLE IF NOT EXISTS return_item (
    return_id               VARCHAR(20) NOT NULL,
    return_item_seq_id      VARCHAR(20) NOT NULL,
    return_reason_id        VARCHAR(20),
    return_type_id          VARCHAR(20),
    return_item_type_id     VARCHAR(20),
    product_id              VARCHAR(20),
    description             VARCHAR(255),
    order_id                VARCHAR(20),
    order_item_seq_id       VARCHAR(20),
    status_id               VARCHAR(20),
    expected_item_status    VARCHAR(20),
    return_quantity         NUMERIC(18,6),
    received_quantity       NUMERIC(18,6),
    return_price            NUMERIC(18,2),
    return_item_response_id VARCHAR(20),
    -- HotWax's
    external_id             VARCHAR(60),
    reason                  VARCHAR(255),
    -- stamps
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_return_item PRIMARY KEY (return_id, return_item_seq_id)
);

CREATE TABLE IF NOT EXISTS return_status (
    return_status_id        VARCHAR(20) NOT NULL,
    status_id               VARCHAR(20),
    return_id               VARCHAR(20),
    return_item_seq_id      VARCHAR(20),
    change_by_user_login_id VARCHAR(255),
    status_datetime         TIMESTAMPTZ,
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_return_status PRIMARY KEY (return_status_id)
);

-- Of HotWax's model; no stock OFBiz has it.
CREATE TABLE IF NOT EXISTS return_identification (
    return_identification_type_id VARCHAR(20) NOT NULL,
    return_id                     VARCHAR(20) NOT NULL,
    id_value                      VARCHAR(60),
    from_date                     TIMESTAMPTZ NOT NULL,
    thru_date                     TIMESTAMPTZ,
    last_updated_stamp            TIMESTAMPTZ,
    last_updated_tx_stamp         TIMESTAMPTZ,
    created_stamp                 TIMESTAMPTZ,
    created_tx_stamp              TIMESTAMPTZ,
    CONSTRAINT pk_return_identification PRIMARY KEY (return_identification_type_id, return_id, from_date)
);

CREATE TABLE IF NOT EXISTS return_adjustment (
    return_adjustment_id        VARCHAR(20) NOT NULL,
    return_adjustment_type_id   VARCHAR(20),
    return_id                   VARCHAR(20),
    return_item_seq_id          VARCHAR(20),
    ship_group_seq_id           VARCHAR(20),
    comments                    VARCHAR(255),
    description                 VARCHAR(255),
    return_type_id              VARCHAR(20),
    order_adjustment_id         VARCHAR(20),
    amount                      NUMERIC(18,3),
    product_promo_id            VARCHAR(20),
    product_promo_rule_id       VARCHAR(20),
    product_promo_action_seq_id VARCHAR(20),
    product_feature_id          VARCHAR(20),
    corresponding_product_id    VARCHAR(20),
    tax_authority_rate_seq_id   VARCHAR(20),
    source_reference_id         VARCHAR(60),
    source_percentage           NUMERIC(18,6),
    customer_reference_id       VARCHAR(60),
    primary_geo_id              VARCHAR(20),
    secondary_geo_id            VARCHAR(20),
    exempt_amount               NUMERIC(18,2),
    tax_auth_geo_id             VARCHAR(20),
    tax_auth_party_id           VARCHAR(20),
    override_gl_account_id      VARCHAR(20),
    include_in_tax              CHAR(1),
    include_in_shipping         CHAR(1),
    created_date                TIMESTAMPTZ,
    created_by_user_login       VARCHAR(255),
    last_modified_date          TIMESTAMPTZ,
    last_modified_by_user_login VARCHAR(255),
    -- HotWax's
    order_id                    VARCHAR(20),
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_return_adjustment PRIMARY KEY (return_adjustment_id)
);
