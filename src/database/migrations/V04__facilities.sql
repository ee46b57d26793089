-- Facilities: stores, warehouses and parking places for orders, with their addresses, groups and locations.
--
-- A table that stands is left as it is; `V11` adds the columns that a stock OFBiz table lacks.

CREATE TABLE IF NOT EXISTS facility_type (
    facility_type_id      VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_facility_type PRIMARY KEY (facility_type_id)
);

CREATE TABLE IF NOT EXISTS facility_group (
    facility_group_id       VARCHAR(20) NOT NULL,
    facility_group_type_id  VARCHAR(20),
    primary_parent_group_id VARCHAR(20),
    facility_group_name     VARCHAR(100),
    description             VARCHAR(255),
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_facility_group PRIMARY KEY (facility_group_id)
);

CREATE TABLE IF NOT EXISTS facility (
    facility_id                    VARCHAR(20) NOT NULL,
    facility_type_id               VARCHAR(20),
    parent_facility_id             VARCHAR(20),
    owner_party_id                 VARCHAR(20),
    default_inventory_item_type_id VARCHAR(20),
    facility_name                  VARCHAR(100),
    primary_facility_group_id      VARCHAR(20),
    facility_size                  NUMERIC(18,6),
    facility_size_uom_id           VARCHAR(20),
    product_store_id               VARCHAR(20),
    default_days_to_ship           NUMERIC(20,0),
    opened_date                    TIMESTAMPTZ,
    closed_date                    TIMESTAMPTZ,
    description                    VARCHAR(255),
    default_dimension_uom_id       VARCHAR(20),
    default_weight_uom_id          VARCHAR(20),
    geo_point_id                   VARCHAR(20),
    facility_level                 NUMERIC(20,0),
    -- HotWax's
    external_id                    VARCHAR(60),
    open_time                      TIME,
    close_time                     TIME,
    facility_time_zone             VARCHAR(255),
    maximum_order_limit            NUMERIC(20,0),
    postal_code                    VARCHAR(255),
    -- stamps
    last_updated_stamp             TIMESTAMPTZ,
    last_updated_tx_stamp          TIMESTAMPTZ,
    created_stamp                  TIMESTAMPTZ,
    created_tx_stamp               TIMESTAMPTZ,
    CONSTRAINT pk_facility PRIMARY KEY (facility_id)
);

CREATE TABLE IF NOT EXISTS facility_group_member (
    facility_id           VARCHAR(20) NOT NULL,
    facility_group_id     VARCHAR(20) NOT NULL,
    from_date             TIMESTAMPTZ NOT NULL,
    thru_date             TIMESTAMPTZ,
    sequence_num          NUMERIC(20,0),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_facility_group_member PRIMARY KEY (facility_id, facility_group_id, from_date)
);

-- Of HotWax's model; no stock OFBiz has it.
CREATE TABLE IF NOT EXISTS facility_identification (
    facility_iden_type_id VARCHAR(20) NOT NULL,
    facility_id           VARCHAR(20) NOT NULL,
    id_value              VARCHAR(60),
    from_date             TIMESTAMPTZ NOT NULL,
    thru_date             TIMESTAMPTZ,
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_facility_identification PRIMARY KEY (facility_iden_type_id, facility_id, from_date)
);

CREATE TABLE IF NOT EXISTS facility_location (
    facility_id           VARCHAR(20) NOT NULL,
    location_seq_id       VARCHAR(20) NOT NULL,
    location_type_enum_id VARCHAR(20),
    area_id               VARCHAR(20),
    aisle_id              VARCHAR(20),
    section_id            VARCHAR(20),
    level_id              VARCHAR(20),
    position_id           VARCHAR(20),
    geo_point_id          VARCHAR(20),
    -- HotWax's
    is_locked             CHAR(1),
    last_count_date       DATE,
    next_count_date       DATE,
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_facility_location PRIMARY KEY (facility_id, location_seq_id)
);

CREATE TABLE IF NOT EXISTS facility_contact_mech (
    facility_id           VARCHAR(20) NOT NULL,
    contact_mech_id       VARCHAR(20) NOT NULL,
    from_date             TIMESTAMPTZ NOT NULL,
    thru_date             TIMESTAMPTZ,
    extension             VARCHAR(10),
    comments              VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_facility_contact_mech PRIMARY KEY (facility_id, contact_mech_id, from_date)
);

CREATE TABLE IF NOT EXISTS facility_contact_mech_purpose (
    facility_id                  VARCHAR(20) NOT NULL,
    contact_mech_id              VARCHAR(20) NOT NULL,
    contact_mech_purpose_type_id VARCHAR(20) NOT NULL,
    from_date                    TIMESTAMPTZ NOT NULL,
    thru_date                    TIMESTAMPTZ,
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_facility_contact_mech_purpo PRIMARY KEY (facility_id, contact_mech_id, contact_mech_purpose_type_id, from_date)
);
