-- Orders: header, items, ship groups, and everything that hangs on them.
--
-- A table that stands is left as it is; `V11` adds the columns that a stock OFBiz table lacks.

CREATE TABLE IF NOT EXISTS order_header (
    order_id                    VARCHAR(20) NOT NULL,
    order_type_id               VARCHAR(20),
    order_name                  VARCHAR(100),
    external_id                 VARCHAR(20),
    sales_channel_enum_id       VARCHAR(20),
    order_date                  TIMESTAMPTZ,
    priority                    CHAR(1),
    entry_date                  TIMESTAMPTZ,
    pick_sheet_printed_date     TIMESTAMPTZ,
    visit_id                    VARCHAR(20),
    status_id                   VARCHAR(20),
    created_by                  VARCHAR(255),
    first_attempt_order_id      VARCHAR(20),
    currency_uom                VARCHAR(20),
    sync_status_id              VARCHAR(20),
    billing_account_id          VARCHAR(20),
    origin_facility_id          VARCHAR(20),
    web_site_id                 VARCHAR(20),
    product_store_id            VARCHAR(20),
    agreement_id                VARCHAR(20),
    terminal_id                 VARCHAR(60),
    transaction_id              VARCHAR(60),
    auto_order_shopping_list_id VARCHAR(20),
    needs_inventory_issuance    CHAR(1),
    is_rush_order               CHAR(1),
    internal_code               VARCHAR(60),
    remaining_sub_total         NUMERIC(18,2),
    grand_total                 NUMERIC(18,2),
    is_viewed                   CHAR(1),
    invoice_per_shipment        CHAR(1),
    -- HotWax's
    expire_date                 TIMESTAMPTZ,
    locale_string               VARCHAR(10),
    customer_classification_id  VARCHAR(20),
    presentment_currency_uom    VARCHAR(20),
    auto_approve                CHAR(1),
    status_flow_id              VARCHAR(20),
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_order_header PRIMARY KEY (order_id)
);

CREATE TABLE IF NOT EXISTS order_item (
    order_id                    VARCHAR(20) NOT NULL,
    order_item_seq_id           VARCHAR(20) NOT NULL,
    external_id                 VARCHAR(20),
    order_item_type_id          VARCHAR(20),
    order_item_group_seq_id     VARCHAR(20),
    is_item_group_primary       CHAR(1),
    from_inventory_item_id      VARCHAR(20),
    budget_id                   VARCHAR(20),
    budget_item_seq_id          VARCHAR(20),
    product_id                  VARCHAR(20),
    supplier_product_id         VARCHAR(60),
    product_feature_id          VARCHAR(20),
    prod_catalog_id             VARCHAR(20),
    product_category_id         VARCHAR(20),
    is_promo                    CHAR(1),
    quote_id                    VARCHAR(20),
    quote_item_seq_id           VARCHAR(20),
    shopping_list_id            VARCHAR(20),
    shopping_list_item_seq_id   VARCHAR(20),
    subscription_id             VARCHAR(20),
    deployment_id               VARCHAR(20),
    quantity                    NUMERIC(18,6),
    cancel_quantity             NUMERIC(18,6),
    selected_amount             NUMERIC(18,6),
    unit_price                  NUMERIC(18,3),
    unit_list_price             NUMERIC(18,3),
    unit_average_cost           NUMERIC(18,2),
    unit_recurring_price        NUMERIC(18,2),
    discount_rate               NUMERIC(18,6),
    is_modified_price           CHAR(1),
    recurring_freq_uom_id       VARCHAR(20),
    item_description            VARCHAR(255),
    comments                    VARCHAR(255),
    corresponding_po_id         VARCHAR(20),
    status_id                   VARCHAR(20),
    sync_status_id              VARCHAR(20),
    estimated_ship_date         TIMESTAMPTZ,
    estimated_delivery_date     TIMESTAMPTZ,
    auto_cancel_date            TIMESTAMPTZ,
    dont_cancel_set_date        TIMESTAMPTZ,
    dont_cancel_set_user_login  VARCHAR(255),
    ship_before_date            TIMESTAMPTZ,
    ship_after_date             TIMESTAMPTZ,
    reserve_after_date          TIMESTAMPTZ,
    cancel_back_order_date      TIMESTAMPTZ,
    override_gl_account_id      VARCHAR(20),
    sales_opportunity_id        VARCHAR(20),
    change_by_user_login_id     VARCHAR(255),
    -- HotWax's
    ship_group_seq_id           VARCHAR(20),
    return_till_date            TIMESTAMPTZ,
    promised_datetime           TIMESTAMPTZ,
    shipment_id                 VARCHAR(20),
    is_new_product              CHAR(1),
    available_to_promise        NUMERIC(18,6),
    requested_delivery_date     DATE,
    requested_delivery_time     TIME,
    requested_ship_meth_type_id VARCHAR(20),
    delivery_window             FLOAT8,
    tax_code                    VARCHAR(60),
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_order_item PRIMARY KEY (order_id, order_item_seq_id)
);

CREATE TABLE IF NOT EXISTS order_item_ship_group (
    order_id                VARCHAR(20) NOT NULL,
    ship_group_seq_id       VARCHAR(20) NOT NULL,
    shipment_method_type_id VARCHAR(20),
    supplier_party_id       VARCHAR(20),
    supplier_agreement_id   VARCHAR(20),
    vendor_party_id         VARCHAR(20),
    carrier_party_id        VARCHAR(20),
    carrier_role_type_id    VARCHAR(20),
    facility_id             VARCHAR(20),
    contact_mech_id         VARCHAR(20),
    telecom_contact_mech_id VARCHAR(20),
    tracking_number         VARCHAR(60),
    shipping_instructions   VARCHAR(255),
    may_split               CHAR(1),
    gift_message            VARCHAR(255),
    is_gift                 CHAR(1),
    ship_after_date         TIMESTAMPTZ,
    ship_by_date            TIMESTAMPTZ,
    estimated_ship_date     TIMESTAMPTZ,
    estimated_delivery_date TIMESTAMPTZ,
    -- HotWax's
    carrier_account_number  VARCHAR(20),
    carrier_service         VARCHAR(255),
    order_facility_id       VARCHAR(20),
    -- stamps
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_order_item_ship_group PRIMARY KEY (order_id, ship_group_seq_id)
);

CREATE TABLE IF NOT EXISTS order_item_ship_group_assoc (
    order_id              VARCHAR(20) NOT NULL,
    order_item_seq_id     VARCHAR(20) NOT NULL,
    ship_group_seq_id     VARCHAR(20) NOT NULL,
    quantity              NUMERIC(18,6),
    cancel_quantity       NUMERIC(18,6),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_order_item_ship_group_assoc PRIMARY KEY (order_id, order_item_seq_id, ship_group_seq_id)
);

CREATE TABLE IF NOT EXISTS order_item_ship_grp_inv_res (
    order_id               VARCHAR(20) NOT NULL,
    ship_group_seq_id      VARCHAR(20) NOT NULL,
    order_item_seq_id      VARCHAR(20) NOT NULL,
    inventory_item_id      VARCHAR(20) NOT NULL,
    reserve_order_enum_id  VARCHAR(20),
    quantity               NUMERIC(18,6),
    quantity_not_available NUMERIC(18,6),
    reserved_datetime      TIMESTAMPTZ,
    created_datetime       TIMESTAMPTZ,
    promised_datetime      TIMESTAMPTZ,
    current_promised_date  TIMESTAMPTZ,
    priority               CHAR(1),
    sequence_id            NUMERIC(20,0),
    -- HotWax's
    shipment_id            VARCHAR(20),
    -- stamps
    last_updated_stamp     TIMESTAMPTZ,
    last_updated_tx_stamp  TIMESTAMPTZ,
    created_stamp          TIMESTAMPTZ,
    created_tx_stamp       TIMESTAMPTZ,
    CONSTRAINT pk_order_item_ship_grp_inv_res PRIMARY KEY (order_id, ship_group_seq_id, order_item_seq_id, inventory_item_id)
);

CREATE TABLE IF NOT EXISTS order_item_change (
    order_item_change_id    VARCHAR(20) NOT NULL,
    order_id                VARCHAR(20),
    order_item_seq_id       VARCHAR(20),
    change_type_enum_id     VARCHAR(20),
    change_datetime         TIMESTAMPTZ,
    change_user_login       VARCHAR(255),
    quantity                NUMERIC(18,6),
    cancel_quantity         NUMERIC(18,6),
    unit_price              NUMERIC(18,2),
    item_description        VARCHAR(255),
    reason_enum_id          VARCHAR(20),
    change_comments         VARCHAR(255),
    -- HotWax's
    available_to_promise    NUMERIC(18,6),
    product_id              VARCHAR(20),
    estimated_delivery_date TIMESTAMPTZ,
    -- stamps
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_order_item_change PRIMARY KEY (order_item_change_id)
);

CREATE TABLE IF NOT EXISTS order_item_attribute (
    order_id              VARCHAR(20) NOT NULL,
    order_item_seq_id     VARCHAR(20) NOT NULL,
    attr_name             VARCHAR(60) NOT NULL,
    attr_value            VARCHAR(255),
    attr_description      VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_order_item_attribute PRIMARY KEY (order_id, order_item_seq_id, attr_name)
);

CREATE TABLE IF NOT EXISTS order_attribute (
    order_id              VARCHAR(20) NOT NULL,
    attr_name             VARCHAR(60) NOT NULL,
    attr_value            VARCHAR(255),
    attr_description      VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_order_attribute PRIMARY KEY (order_id, attr_name)
);

CREATE TABLE IF NOT EXISTS order_role (
    order_id              VARCHAR(20) NOT NULL,
    party_id              VARCHAR(20) NOT NULL,
    role_type_id          VARCHAR(20) NOT NULL,
    -- HotWax's
    from_date             TIMESTAMPTZ,
    thru_date             TIMESTAMPTZ,
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_order_role PRIMARY KEY (order_id, party_id, role_type_id)
);

CREATE TABLE IF NOT EXISTS order_status (
    order_status_id             VARCHAR(20) NOT NULL,
    status_id                   VARCHAR(20),
    order_id                    VARCHAR(20),
    order_item_seq_id           VARCHAR(20),
    order_payment_preference_id VARCHAR(20),
    status_datetime             TIMESTAMPTZ,
    status_user_login           VARCHAR(255),
    change_reason               VARCHAR(255),
    -- HotWax's
    change_reason_enum_id       VARCHAR(20),
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_order_status PRIMARY KEY (order_status_id)
);

CREATE TABLE IF NOT EXISTS order_adjustment (
    order_adjustment_id         VARCHAR(20) NOT NULL,
    order_adjustment_type_id    VARCHAR(20),
    order_id                    VARCHAR(20),
    order_item_seq_id           VARCHAR(20),
    ship_group_seq_id           VARCHAR(20),
    comments                    VARCHAR(255),
    description                 VARCHAR(255),
    amount                      NUMERIC(18,3),
    recurring_amount            NUMERIC(18,3),
    amount_already_included     NUMERIC(18,3),
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
    is_manual                   CHAR(1),
    created_date                TIMESTAMPTZ,
    created_by_user_login       VARCHAR(255),
    last_modified_date          TIMESTAMPTZ,
    last_modified_by_user_login VARCHAR(255),
    original_adjustment_id      VARCHAR(20),
    -- HotWax's
    billing_shipment_id         VARCHAR(20),
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_order_adjustment PRIMARY KEY (order_adjustment_id)
);

CREATE TABLE IF NOT EXISTS order_payment_preference (
    order_payment_preference_id VARCHAR(20) NOT NULL,
    order_id                    VARCHAR(20),
    order_item_seq_id           VARCHAR(20),
    ship_group_seq_id           VARCHAR(20),
    product_price_purpose_id    VARCHAR(20),
    payment_method_type_id      VARCHAR(20),
    payment_method_id           VARCHAR(20),
    fin_account_id              VARCHAR(20),
    security_code               VARCHAR(255),
    track2                      VARCHAR(255),
    present_flag                CHAR(1),
    swiped_flag                 CHAR(1),
    overflow_flag               CHAR(1),
    max_amount                  NUMERIC(18,2),
    process_attempt             NUMERIC(20,0),
    billing_postal_code         VARCHAR(60),
    manual_auth_code            VARCHAR(60),
    manual_ref_num              VARCHAR(60),
    status_id                   VARCHAR(20),
    needs_nsf_retry             CHAR(1),
    created_date                TIMESTAMPTZ,
    created_by_user_login       VARCHAR(255),
    last_modified_date          TIMESTAMPTZ,
    last_modified_by_user_login VARCHAR(255),
    -- HotWax's
    payment_mode                VARCHAR(255),
    card_name                   VARCHAR(255),
    presentment_amount          NUMERIC(18,2),
    presentment_currency_uom    VARCHAR(20),
    exchange_rate               FLOAT8,
    request_id                  VARCHAR(255),
    parent_ref_num              VARCHAR(255),
    application_identifier      VARCHAR(255),
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_order_payment_preference PRIMARY KEY (order_payment_preference_id)
);

CREATE TABLE IF NOT EXISTS order_contact_mech (
    order_id                     VARCHAR(20) NOT NULL,
    contact_mech_purpose_type_id VARCHAR(20) NOT NULL,
    contact_mech_id              VARCHAR(20) NOT NULL,
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_order_contact_mech PRIMARY KEY (order_id, contact_mech_purpose_type_id, contact_mech_id)
);

CREATE TABLE IF NOT EXISTS order_header_note (
    order_id              VARCHAR(20) NOT NULL,
    note_id               VARCHAR(20) NOT NULL,
    internal_note         CHAR(1),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_order_header_note PRIMARY KEY (order_id, note_id)
);

-- Of HotWax's model; no stock OFBiz has it.
CREATE TABLE IF NOT EXISTS order_identification (
    order_identification_type_id VARCHAR(20) NOT NULL,
    order_id                     VARCHAR(20) NOT NULL,
    id_value                     VARCHAR(60),
    from_date                    TIMESTAMPTZ NOT NULL,
    thru_date                    TIMESTAMPTZ,
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_order_identification PRIMARY KEY (order_identification_type_id, order_id, from_date)
);

-- Of HotWax's model; no stock OFBiz has it.
CREATE TABLE IF NOT EXISTS order_facility_change (
    order_facility_change_id VARCHAR(20) NOT NULL,
    order_id                 VARCHAR(20),
    order_item_seq_id        VARCHAR(20),
    shipment_method_type_id  VARCHAR(20),
    ship_group_seq_id        VARCHAR(20),
    facility_id              VARCHAR(20),
    from_facility_id         VARCHAR(20),
    router_user_login        VARCHAR(255),
    routing_rule             TEXT,
    change_datetime          TIMESTAMPTZ,
    change_user_login        VARCHAR(255),
    change_reason_enum_id    VARCHAR(20),
    comments                 TEXT,
    carrier_postal_code_id   VARCHAR(20),
    routing_group_id         VARCHAR(20),
    order_routing_id         VARCHAR(20),
    routing_rule_id          VARCHAR(20),
    routing_run_id           VARCHAR(20),
    last_updated_stamp       TIMESTAMPTZ,
    last_updated_tx_stamp    TIMESTAMPTZ,
    created_stamp            TIMESTAMPTZ,
    created_tx_stamp         TIMESTAMPTZ,
    CONSTRAINT pk_order_facility_change PRIMARY KEY (order_facility_change_id)
);

-- Of HotWax's model; no stock OFBiz has it.
CREATE TABLE IF NOT EXISTS excluded_order_facility (
    order_id              VARCHAR(20) NOT NULL,
    order_item_seq_id     VARCHAR(20) NOT NULL,
    ship_group_seq_id     VARCHAR(20) NOT NULL,
    facility_id           VARCHAR(20),
    facility_type_id      VARCHAR(20),
    from_date             TIMESTAMPTZ NOT NULL,
    thru_date             TIMESTAMPTZ,
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_excluded_order_facility PRIMARY KEY (order_id, order_item_seq_id, ship_group_seq_id, from_date)
);

CREATE TABLE IF NOT EXISTS order_shipment (
    order_id              VARCHAR(20) NOT NULL,
    order_item_seq_id     VARCHAR(20) NOT NULL,
    ship_group_seq_id     VARCHAR(20) NOT NULL,
    shipment_id           VARCHAR(20) NOT NULL,
    shipment_item_seq_id  VARCHAR(20) NOT NULL,
    quantity              NUMERIC(18,6),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_order_shipment PRIMARY KEY (order_id, order_item_seq_id, ship_group_seq_id, shipment_id, shipment_item_seq_id)
);
