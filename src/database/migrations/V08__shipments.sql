-- Shipments: items, packages, route segments, what was picked, issued and received.
--
-- A table that stands is left as it is; `V11` adds the columns that a stock OFBiz table lacks.

CREATE TABLE IF NOT EXISTS shipment_type (
    shipment_type_id      VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_shipment_type PRIMARY KEY (shipment_type_id)
);

CREATE TABLE IF NOT EXISTS shipment_method_type (
    shipment_method_type_id VARCHAR(20) NOT NULL,
    description             VARCHAR(255),
    sequence_num            NUMERIC(20,0),
    -- HotWax's
    parent_type_id          VARCHAR(20),
    -- stamps
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_shipment_method_type PRIMARY KEY (shipment_method_type_id)
);

CREATE TABLE IF NOT EXISTS shipment_box_type (
    shipment_box_type_id  VARCHAR(20) NOT NULL,
    description           VARCHAR(255),
    dimension_uom_id      VARCHAR(20),
    box_length            NUMERIC(18,6),
    box_width             NUMERIC(18,6),
    box_height            NUMERIC(18,6),
    weight_uom_id         VARCHAR(20),
    box_weight            NUMERIC(18,6),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_shipment_box_type PRIMARY KEY (shipment_box_type_id)
);

CREATE TABLE IF NOT EXISTS carrier_shipment_method (
    shipment_method_type_id VARCHAR(20) NOT NULL,
    party_id                VARCHAR(20) NOT NULL,
    role_type_id            VARCHAR(20) NOT NULL,
    sequence_number         NUMERIC(20,0),
    carrier_service_code    VARCHAR(60),
    -- HotWax's
    delivery_days           NUMERIC(20,0),
    -- stamps
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_carrier_shipment_method PRIMARY KEY (shipment_method_type_id, party_id, role_type_id)
);

CREATE TABLE IF NOT EXISTS carrier_shipment_box_type (
    shipment_box_type_id  VARCHAR(20) NOT NULL,
    party_id              VARCHAR(20) NOT NULL,
    packaging_type_code   VARCHAR(20),
    oversize_code         VARCHAR(10),
    -- HotWax's
    pickup_container_code VARCHAR(20),
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_carrier_shipment_box_type PRIMARY KEY (shipment_box_type_id, party_id)
);

CREATE TABLE IF NOT EXISTS shipment (
    shipment_id                   VARCHAR(20) NOT NULL,
    shipment_type_id              VARCHAR(20),
    status_id                     VARCHAR(20),
    primary_order_id              VARCHAR(20),
    primary_return_id             VARCHAR(20),
    primary_ship_group_seq_id     VARCHAR(20),
    picklist_bin_id               VARCHAR(20),
    estimated_ready_date          TIMESTAMPTZ,
    estimated_ship_date           TIMESTAMPTZ,
    estimated_ship_work_eff_id    VARCHAR(20),
    estimated_arrival_date        TIMESTAMPTZ,
    estimated_arrival_work_eff_id VARCHAR(20),
    latest_cancel_date            TIMESTAMPTZ,
    estimated_ship_cost           NUMERIC(18,2),
    currency_uom_id               VARCHAR(20),
    handling_instructions         VARCHAR(255),
    origin_facility_id            VARCHAR(20),
    destination_facility_id       VARCHAR(20),
    origin_contact_mech_id        VARCHAR(20),
    origin_telecom_number_id      VARCHAR(20),
    destination_contact_mech_id   VARCHAR(20),
    destination_telecom_number_id VARCHAR(20),
    party_id_to                   VARCHAR(20),
    party_id_from                 VARCHAR(20),
    additional_shipping_charge    NUMERIC(18,2),
    addtl_shipping_charge_desc    VARCHAR(255),
    created_date                  TIMESTAMPTZ,
    created_by_user_login         VARCHAR(255),
    last_modified_date            TIMESTAMPTZ,
    last_modified_by_user_login   VARCHAR(255),
    -- HotWax's
    external_id                   VARCHAR(60),
    carrier_party_id              VARCHAR(20),
    shipment_method_type_id       VARCHAR(20),
    -- stamps
    last_updated_stamp            TIMESTAMPTZ,
    last_updated_tx_stamp         TIMESTAMPTZ,
    created_stamp                 TIMESTAMPTZ,
    created_tx_stamp              TIMESTAMPTZ,
    CONSTRAINT pk_shipment PRIMARY KEY (shipment_id)
);

CREATE TABLE IF NOT EXISTS shipment_item (
    shipment_id                  VARCHAR(20) NOT NULL,
    shipment_item_seq_id         VARCHAR(20) NOT NULL,
    product_id                   VARCHAR(20),
    quantity                     NUMERIC(18,6),
    shipment_content_description VARCHAR(255),
    -- HotWax's
    serial_number                VARCHAR(255),
    available_to_promise         NUMERIC(18,6),
    external_id                  VARCHAR(60),
    -- stamps
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_shipment_item PRIMARY KEY (shipment_id, shipment_item_seq_id)
);

CREATE TABLE IF NOT EXISTS shipment_package (
    shipment_id             VARCHAR(20) NOT NULL,
    shipment_package_seq_id VARCHAR(20) NOT NULL,
    shipment_box_type_id    VARCHAR(20),
    date_created            TIMESTAMPTZ,
    box_length              NUMERIC(18,6),
    box_height              NUMERIC(18,6),
    box_width               NUMERIC(18,6),
    dimension_uom_id        VARCHAR(20),
    weight                  NUMERIC(18,6),
    weight_uom_id           VARCHAR(20),
    insured_value           NUMERIC(18,2),
    -- HotWax's
    package_name            VARCHAR(255),
    -- stamps
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_shipment_package PRIMARY KEY (shipment_id, shipment_package_seq_id)
);

CREATE TABLE IF NOT EXISTS shipment_package_content (
    shipment_id             VARCHAR(20) NOT NULL,
    shipment_package_seq_id VARCHAR(20) NOT NULL,
    shipment_item_seq_id    VARCHAR(20) NOT NULL,
    quantity                NUMERIC(18,6),
    sub_product_id          VARCHAR(20),
    sub_product_quantity    NUMERIC(18,6),
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_shipment_package_content PRIMARY KEY (shipment_id, shipment_package_seq_id, shipment_item_seq_id)
);

CREATE TABLE IF NOT EXISTS shipment_route_segment (
    shipment_id                   VARCHAR(20) NOT NULL,
    shipment_route_segment_id     VARCHAR(20) NOT NULL,
    delivery_id                   VARCHAR(20),
    origin_facility_id            VARCHAR(20),
    dest_facility_id              VARCHAR(20),
    origin_contact_mech_id        VARCHAR(20),
    origin_telecom_number_id      VARCHAR(20),
    dest_contact_mech_id          VARCHAR(20),
    dest_telecom_number_id        VARCHAR(20),
    carrier_party_id              VARCHAR(20),
    shipment_method_type_id       VARCHAR(20),
    carrier_service_status_id     VARCHAR(20),
    carrier_delivery_zone         VARCHAR(60),
    carrier_restriction_codes     VARCHAR(60),
    carrier_restriction_desc      TEXT,
    billing_weight                NUMERIC(18,6),
    billing_weight_uom_id         VARCHAR(20),
    actual_transport_cost         NUMERIC(18,2),
    actual_service_cost           NUMERIC(18,2),
    actual_other_cost             NUMERIC(18,2),
    actual_cost                   NUMERIC(18,2),
    currency_uom_id               VARCHAR(20),
    actual_start_date             TIMESTAMPTZ,
    actual_arrival_date           TIMESTAMPTZ,
    estimated_start_date          TIMESTAMPTZ,
    estimated_arrival_date        TIMESTAMPTZ,
    tracking_id_number            VARCHAR(60),
    tracking_digest               TEXT,
    updated_by_user_login_id      VARCHAR(255),
    last_updated_date             TIMESTAMPTZ,
    home_delivery_type            VARCHAR(20),
    home_delivery_date            TIMESTAMPTZ,
    third_party_account_number    VARCHAR(20),
    third_party_postal_code       VARCHAR(20),
    third_party_country_geo_code  VARCHAR(20),
    ups_high_value_report         BYTEA,
    -- HotWax's
    cod_return_label_image        BYTEA,
    cod_return_label_html         TEXT,
    cod_collection_amount         NUMERIC(18,2),
    carrier_account_number        VARCHAR(20),
    carrier_service               VARCHAR(255),
    is_generate_third_party_label CHAR(1),
    is_tracking_required          CHAR(1),
    reference_number              VARCHAR(255),
    actual_carrier_code           VARCHAR(20),
    tracking_url                  VARCHAR(255),
    -- stamps
    last_updated_stamp            TIMESTAMPTZ,
    last_updated_tx_stamp         TIMESTAMPTZ,
    created_stamp                 TIMESTAMPTZ,
    created_tx_stamp              TIMESTAMPTZ,
    CONSTRAINT pk_shipment_route_segment PRIMARY KEY (shipment_id, shipment_route_segment_id)
);

CREATE TABLE IF NOT EXISTS shipment_package_route_seg (
    shipment_id               VARCHAR(20) NOT NULL,
    shipment_package_seq_id   VARCHAR(20) NOT NULL,
    shipment_route_segment_id VARCHAR(20) NOT NULL,
    tracking_code             VARCHAR(60),
    box_number                VARCHAR(60),
    label_image               BYTEA,
    label_intl_sign_image     BYTEA,
    label_html                TEXT,
    label_printed             CHAR(1),
    international_invoice     BYTEA,
    package_transport_cost    NUMERIC(18,2),
    package_service_cost      NUMERIC(18,2),
    package_other_cost        NUMERIC(18,2),
    cod_amount                NUMERIC(18,2),
    insured_amount            NUMERIC(18,2),
    currency_uom_id           VARCHAR(20),
    -- HotWax's
    label_image_url           VARCHAR(2000),
    international_invoice_url VARCHAR(2000),
    package_pickup_prn        VARCHAR(20),
    package_pickup_date       TIMESTAMPTZ,
    gateway_message           TEXT,
    gateway_status            VARCHAR(255),
    -- stamps
    last_updated_stamp        TIMESTAMPTZ,
    last_updated_tx_stamp     TIMESTAMPTZ,
    created_stamp             TIMESTAMPTZ,
    created_tx_stamp          TIMESTAMPTZ,
    CONSTRAINT pk_shipment_package_route_seg PRIMARY KEY (shipment_id, shipment_package_seq_id, shipment_route_segment_id)
);

CREATE TABLE IF NOT EXISTS shipment_status (
    status_id               VARCHAR(20) NOT NULL,
    shipment_id             VARCHAR(20) NOT NULL,
    status_date             TIMESTAMPTZ,
    change_by_user_login_id VARCHAR(255),
    -- HotWax's
    shipment_status_id      VARCHAR(20),
    -- stamps
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_shipment_status PRIMARY KEY (status_id, shipment_id)
);

-- Of HotWax's model; no stock OFBiz has it.
CREATE TABLE IF NOT EXISTS shipment_content (
    shipment_id              VARCHAR(20) NOT NULL,
    shipment_item_seq_id     VARCHAR(20) NOT NULL,
    content_id               VARCHAR(20) NOT NULL,
    shipment_content_type_id VARCHAR(20) NOT NULL,
    from_date                TIMESTAMPTZ NOT NULL,
    thru_date                TIMESTAMPTZ,
    last_updated_stamp       TIMESTAMPTZ,
    last_updated_tx_stamp    TIMESTAMPTZ,
    created_stamp            TIMESTAMPTZ,
    created_tx_stamp         TIMESTAMPTZ,
    CONSTRAINT pk_shipment_content PRIMARY KEY (shipment_id, shipment_item_seq_id, content_id, shipment_content_type_id, from_date)
);

CREATE TABLE IF NOT EXISTS item_issuance (
    item_issuance_id           VARCHAR(20) NOT NULL,
    order_id                   VARCHAR(20),
    order_item_seq_id          VARCHAR(20),
    ship_group_seq_id          VARCHAR(20),
    inventory_item_id          VARCHAR(20),
    shipment_id                VARCHAR(20),
    shipment_item_seq_id       VARCHAR(20),
    fixed_asset_id             VARCHAR(20),
    maint_hist_seq_id          VARCHAR(20),
    issued_date_time           TIMESTAMPTZ,
    issued_by_user_login_id    VARCHAR(255),
    quantity                   NUMERIC(18,6),
    cancel_quantity            NUMERIC(18,6),
    -- HotWax's
    return_id                  VARCHAR(20),
    return_item_seq_id         VARCHAR(20),
    issuance_type_id           VARCHAR(20),
    work_effort_id             VARCHAR(20),
    current_status_id          VARCHAR(20),
    cancelled_date_time        TIMESTAMPTZ,
    cancelled_by_user_login_id VARCHAR(255),
    transfer_quantity          NUMERIC(18,6),
    returned_excess_issued_qty NUMERIC(18,6),
    wegs_reference_number      VARCHAR(20),
    location_seq_id            VARCHAR(20),
    delivered_to_party         VARCHAR(20),
    -- stamps
    last_updated_stamp         TIMESTAMPTZ,
    last_updated_tx_stamp      TIMESTAMPTZ,
    created_stamp              TIMESTAMPTZ,
    created_tx_stamp           TIMESTAMPTZ,
    CONSTRAINT pk_item_issuance PRIMARY KEY (item_issuance_id)
);

CREATE TABLE IF NOT EXISTS shipment_receipt (
    receipt_id                VARCHAR(20) NOT NULL,
    inventory_item_id         VARCHAR(20),
    product_id                VARCHAR(20),
    shipment_id               VARCHAR(20),
    shipment_item_seq_id      VARCHAR(20),
    shipment_package_seq_id   VARCHAR(20),
    order_id                  VARCHAR(20),
    order_item_seq_id         VARCHAR(20),
    return_id                 VARCHAR(20),
    return_item_seq_id        VARCHAR(20),
    rejection_id              VARCHAR(20),
    received_by_user_login_id VARCHAR(255),
    datetime_received         TIMESTAMPTZ,
    item_description          VARCHAR(255),
    quantity_accepted         NUMERIC(18,6),
    quantity_rejected         NUMERIC(18,6),
    last_updated_stamp        TIMESTAMPTZ,
    last_updated_tx_stamp     TIMESTAMPTZ,
    created_stamp             TIMESTAMPTZ,
    created_tx_stamp          TIMESTAMPTZ,
    CONSTRAINT pk_shipment_receipt PRIMARY KEY (receipt_id)
);

CREATE TABLE IF NOT EXISTS picklist (
    picklist_id                 VARCHAR(20) NOT NULL,
    description                 VARCHAR(255),
    facility_id                 VARCHAR(20),
    shipment_method_type_id     VARCHAR(20),
    status_id                   VARCHAR(20),
    picklist_date               TIMESTAMPTZ,
    created_date                TIMESTAMPTZ,
    created_by_user_login       VARCHAR(255),
    last_modified_date          TIMESTAMPTZ,
    last_modified_by_user_login VARCHAR(255),
    -- HotWax's
    external_id                 VARCHAR(60),
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_picklist PRIMARY KEY (picklist_id)
);

CREATE TABLE IF NOT EXISTS picklist_bin (
    picklist_bin_id           VARCHAR(20) NOT NULL,
    picklist_id               VARCHAR(20),
    bin_location_number       NUMERIC(20,0),
    primary_order_id          VARCHAR(20),
    primary_ship_group_seq_id VARCHAR(20),
    -- HotWax's
    location_seq_id           VARCHAR(60),
    -- stamps
    last_updated_stamp        TIMESTAMPTZ,
    last_updated_tx_stamp     TIMESTAMPTZ,
    created_stamp             TIMESTAMPTZ,
    created_tx_stamp          TIMESTAMPTZ,
    CONSTRAINT pk_picklist_bin PRIMARY KEY (picklist_bin_id)
);

CREATE TABLE IF NOT EXISTS picklist_item (
    picklist_bin_id       VARCHAR(20) NOT NULL,
    order_id              VARCHAR(20) NOT NULL,
    order_item_seq_id     VARCHAR(20) NOT NULL,
    ship_group_seq_id     VARCHAR(20) NOT NULL,
    inventory_item_id     VARCHAR(20) NOT NULL,
    item_status_id        VARCHAR(20),
    quantity              NUMERIC(18,6),
    -- HotWax's
    picked                NUMERIC(18,6),
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_picklist_item PRIMARY KEY (picklist_bin_id, order_id, order_item_seq_id, ship_group_seq_id, inventory_item_id)
);
