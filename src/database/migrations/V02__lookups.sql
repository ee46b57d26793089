-- Look-ups: statuses and the changes between them, enumerations, units, places, and the types of orders,
-- items, adjustments and payments.
--
-- A table that stands is left as it is; `V11` adds the columns that a stock OFBiz table lacks.

CREATE TABLE IF NOT EXISTS status_type (
    status_type_id        VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_status_type PRIMARY KEY (status_type_id)
);

CREATE TABLE IF NOT EXISTS status_item (
    status_id             VARCHAR(20) NOT NULL,
    status_type_id        VARCHAR(20),
    status_code           VARCHAR(60),
    sequence_id           VARCHAR(20),
    description           VARCHAR(255),
    -- HotWax's
    status_age            NUMERIC(20,0),
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_status_item PRIMARY KEY (status_id)
);

CREATE TABLE IF NOT EXISTS status_valid_change (
    status_id             VARCHAR(20) NOT NULL,
    status_id_to          VARCHAR(20) NOT NULL,
    condition_expression  VARCHAR(255),
    transition_name       VARCHAR(100),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_status_valid_change PRIMARY KEY (status_id, status_id_to)
);

CREATE TABLE IF NOT EXISTS enumeration_type (
    enum_type_id          VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_enumeration_type PRIMARY KEY (enum_type_id)
);

CREATE TABLE IF NOT EXISTS enumeration (
    enum_id                      VARCHAR(20) NOT NULL,
    enum_type_id                 VARCHAR(20),
    enum_code                    VARCHAR(60),
    sequence_id                  VARCHAR(20),
    description                  VARCHAR(255),
    -- HotWax's
    sequence_num                 NUMERIC(20,0),
    enum_name                    VARCHAR(255),
    primary_enumeration_group_id VARCHAR(20),
    -- stamps
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_enumeration PRIMARY KEY (enum_id)
);

CREATE TABLE IF NOT EXISTS uom_type (
    uom_type_id           VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_uom_type PRIMARY KEY (uom_type_id)
);

CREATE TABLE IF NOT EXISTS uom (
    uom_id                VARCHAR(20) NOT NULL,
    uom_type_id           VARCHAR(20),
    abbreviation          VARCHAR(60),
    numeric_code          NUMERIC(20,0),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_uom PRIMARY KEY (uom_id)
);

CREATE TABLE IF NOT EXISTS geo (
    geo_id                VARCHAR(20) NOT NULL,
    geo_type_id           VARCHAR(20),
    geo_name              VARCHAR(100),
    geo_code              VARCHAR(60),
    geo_sec_code          VARCHAR(60),
    abbreviation          VARCHAR(60),
    well_known_text       TEXT,
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_geo PRIMARY KEY (geo_id)
);

CREATE TABLE IF NOT EXISTS geo_point (
    geo_point_id           VARCHAR(20) NOT NULL,
    geo_point_type_enum_id VARCHAR(20),
    description            VARCHAR(255),
    data_source_id         VARCHAR(20),
    latitude               NUMERIC(18,6) NOT NULL,
    longitude              NUMERIC(18,6) NOT NULL,
    elevation              NUMERIC(18,6),
    elevation_uom_id       VARCHAR(20),
    information            VARCHAR(255),
    last_updated_stamp     TIMESTAMPTZ,
    last_updated_tx_stamp  TIMESTAMPTZ,
    created_stamp          TIMESTAMPTZ,
    created_tx_stamp       TIMESTAMPTZ,
    CONSTRAINT pk_geo_point PRIMARY KEY (geo_point_id)
);

CREATE TABLE IF NOT EXISTS order_type (
    order_type_id         VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_order_type PRIMARY KEY (order_type_id)
);

CREATE TABLE IF NOT EXISTS order_item_type (
    order_item_type_id    VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_order_item_type PRIMARY KEY (order_item_type_id)
);

CREATE TABLE IF NOT EXISTS order_adjustment_type (
    order_adjustment_type_id VARCHAR(20) NOT NULL,
    parent_type_id           VARCHAR(20),
    has_table                CHAR(1),
    description              VARCHAR(255),
    last_updated_stamp       TIMESTAMPTZ,
    last_updated_tx_stamp    TIMESTAMPTZ,
    created_stamp            TIMESTAMPTZ,
    created_tx_stamp         TIMESTAMPTZ,
    CONSTRAINT pk_order_adjustment_type PRIMARY KEY (order_adjustment_type_id)
);

CREATE TABLE IF NOT EXISTS payment_method_type (
    payment_method_type_id VARCHAR(20) NOT NULL,
    description            VARCHAR(255),
    default_gl_account_id  VARCHAR(20),
    -- HotWax's
    payment_method_code    VARCHAR(255),
    -- stamps
    last_updated_stamp     TIMESTAMPTZ,
    last_updated_tx_stamp  TIMESTAMPTZ,
    created_stamp          TIMESTAMPTZ,
    created_tx_stamp       TIMESTAMPTZ,
    CONSTRAINT pk_payment_method_type PRIMARY KEY (payment_method_type_id)
);
