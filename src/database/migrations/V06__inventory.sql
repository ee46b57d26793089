-- Inventory: what is kept where, each change to it, and the counts that corrected it.
--
-- A table that stands is left as it is; `V11` adds the columns that a stock OFBiz table lacks.

CREATE TABLE IF NOT EXISTS product_facility (
    product_id                    VARCHAR(20) NOT NULL,
    facility_id                   VARCHAR(20) NOT NULL,
    minimum_stock                 NUMERIC(18,6),
    reorder_quantity              NUMERIC(18,6),
    days_to_ship                  NUMERIC(20,0),
    replenish_method_enum_id      VARCHAR(20),
    last_inventory_count          NUMERIC(18,6),
    requirement_method_enum_id    VARCHAR(20),
    -- HotWax's
    allow_pickup                  CHAR(1),
    sales_velocity                NUMERIC(18,6),
    computed_last_inventory_count NUMERIC(18,6),
    allow_brokering               CHAR(1),
    inventory_item_id             VARCHAR(20),
    reorder_point                 NUMERIC(18,6),
    maximum_stock                 NUMERIC(18,6),
    -- stamps
    last_updated_stamp            TIMESTAMPTZ,
    last_updated_tx_stamp         TIMESTAMPTZ,
    created_stamp                 TIMESTAMPTZ,
    created_tx_stamp              TIMESTAMPTZ,
    CONSTRAINT pk_product_facility PRIMARY KEY (product_id, facility_id)
);

CREATE TABLE IF NOT EXISTS product_facility_location (
    product_id            VARCHAR(20) NOT NULL,
    facility_id           VARCHAR(20) NOT NULL,
    location_seq_id       VARCHAR(20) NOT NULL,
    minimum_stock         NUMERIC(18,6),
    move_quantity         NUMERIC(18,6),
    -- HotWax's
    maximum_stock         NUMERIC(18,6),
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_product_facility_location PRIMARY KEY (product_id, facility_id, location_seq_id)
);

CREATE TABLE IF NOT EXISTS inventory_item (
    inventory_item_id          VARCHAR(20) NOT NULL,
    inventory_item_type_id     VARCHAR(20),
    product_id                 VARCHAR(20),
    party_id                   VARCHAR(20),
    owner_party_id             VARCHAR(20),
    status_id                  VARCHAR(20),
    datetime_received          TIMESTAMPTZ,
    datetime_manufactured      TIMESTAMPTZ,
    expire_date                TIMESTAMPTZ,
    facility_id                VARCHAR(20),
    container_id               VARCHAR(20),
    lot_id                     VARCHAR(20),
    uom_id                     VARCHAR(20),
    bin_number                 VARCHAR(20),
    location_seq_id            VARCHAR(20),
    comments                   VARCHAR(255),
    quantity_on_hand_total     NUMERIC(18,6),
    available_to_promise_total NUMERIC(18,6),
    accounting_quantity_total  NUMERIC(18,6),
    serial_number              VARCHAR(255),
    soft_identifier            VARCHAR(255),
    activation_number          VARCHAR(255),
    activation_valid_thru      TIMESTAMPTZ,
    unit_cost                  NUMERIC(18,6),
    currency_uom_id            VARCHAR(20),
    fixed_asset_id             VARCHAR(20),
    -- HotWax's
    item_condition             VARCHAR(20),
    last_received_unit_cost    NUMERIC(18,6),
    -- stamps
    last_updated_stamp         TIMESTAMPTZ,
    last_updated_tx_stamp      TIMESTAMPTZ,
    created_stamp              TIMESTAMPTZ,
    created_tx_stamp           TIMESTAMPTZ,
    CONSTRAINT pk_inventory_item PRIMARY KEY (inventory_item_id)
);

CREATE TABLE IF NOT EXISTS inventory_item_detail (
    inventory_item_id            VARCHAR(20) NOT NULL,
    inventory_item_detail_seq_id VARCHAR(20) NOT NULL,
    effective_date               TIMESTAMPTZ,
    quantity_on_hand_diff        NUMERIC(18,6),
    available_to_promise_diff    NUMERIC(18,6),
    accounting_quantity_diff     NUMERIC(18,6),
    unit_cost                    NUMERIC(18,6),
    order_id                     VARCHAR(20),
    order_item_seq_id            VARCHAR(20),
    ship_group_seq_id            VARCHAR(20),
    shipment_id                  VARCHAR(20),
    shipment_item_seq_id         VARCHAR(20),
    return_id                    VARCHAR(20),
    return_item_seq_id           VARCHAR(20),
    work_effort_id               VARCHAR(20),
    fixed_asset_id               VARCHAR(20),
    maint_hist_seq_id            VARCHAR(20),
    item_issuance_id             VARCHAR(20),
    receipt_id                   VARCHAR(20),
    physical_inventory_id        VARCHAR(20),
    reason_enum_id               VARCHAR(20),
    description                  VARCHAR(255),
    -- HotWax's
    last_quantity_on_hand        NUMERIC(18,6),
    last_available_to_promise    NUMERIC(18,6),
    -- stamps
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_inventory_item_detail PRIMARY KEY (inventory_item_id, inventory_item_detail_seq_id)
);

CREATE TABLE IF NOT EXISTS inventory_item_variance (
    inventory_item_id        VARCHAR(20) NOT NULL,
    physical_inventory_id    VARCHAR(20) NOT NULL,
    variance_reason_id       VARCHAR(20),
    available_to_promise_var NUMERIC(18,6),
    quantity_on_hand_var     NUMERIC(18,6),
    comments                 VARCHAR(255),
    -- HotWax's
    change_by_user_login_id  VARCHAR(255),
    reason_enum_id           VARCHAR(20),
    -- stamps
    last_updated_stamp       TIMESTAMPTZ,
    last_updated_tx_stamp    TIMESTAMPTZ,
    created_stamp            TIMESTAMPTZ,
    created_tx_stamp         TIMESTAMPTZ,
    CONSTRAINT pk_inventory_item_variance PRIMARY KEY (inventory_item_id, physical_inventory_id)
);
