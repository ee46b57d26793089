-- Parties: people and organisations, their roles, log-ins, and the ways to reach them.
--
-- A table that stands is left as it is; `V11` adds the columns that a stock OFBiz table lacks.

CREATE TABLE IF NOT EXISTS party_type (
    party_type_id         VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_party_type PRIMARY KEY (party_type_id)
);

CREATE TABLE IF NOT EXISTS party (
    party_id                    VARCHAR(20) NOT NULL,
    party_type_id               VARCHAR(20),
    external_id                 VARCHAR(20),
    preferred_currency_uom_id   VARCHAR(20),
    description                 TEXT,
    status_id                   VARCHAR(20),
    created_date                TIMESTAMPTZ,
    created_by_user_login       VARCHAR(255),
    last_modified_date          TIMESTAMPTZ,
    last_modified_by_user_login VARCHAR(255),
    data_source_id              VARCHAR(20),
    is_unread                   CHAR(1),
    -- HotWax's
    ranking                     NUMERIC(20,0),
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_party PRIMARY KEY (party_id)
);

CREATE TABLE IF NOT EXISTS person (
    party_id                    VARCHAR(20) NOT NULL,
    salutation                  VARCHAR(100),
    first_name                  VARCHAR(100),
    middle_name                 VARCHAR(100),
    last_name                   VARCHAR(100),
    personal_title              VARCHAR(100),
    suffix                      VARCHAR(100),
    nickname                    VARCHAR(100),
    first_name_local            VARCHAR(100),
    middle_name_local           VARCHAR(100),
    last_name_local             VARCHAR(100),
    other_local                 VARCHAR(100),
    member_id                   VARCHAR(20),
    gender                      CHAR(1),
    birth_date                  DATE,
    deceased_date               DATE,
    height                      FLOAT8,
    weight                      FLOAT8,
    mothers_maiden_name         VARCHAR(255),
    marital_status_enum_id      VARCHAR(20),
    social_security_number      VARCHAR(255),
    passport_number             VARCHAR(255),
    passport_expire_date        DATE,
    total_years_work_experience FLOAT8,
    comments                    VARCHAR(255),
    employment_status_enum_id   VARCHAR(20),
    residence_status_enum_id    VARCHAR(20),
    occupation                  VARCHAR(100),
    years_with_employer         NUMERIC(20,0),
    months_with_employer        NUMERIC(20,0),
    existing_customer           CHAR(1),
    card_id                     VARCHAR(60),
    -- HotWax's
    anniversary_date            DATE,
    -- stamps
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_person PRIMARY KEY (party_id)
);

CREATE TABLE IF NOT EXISTS party_group (
    party_id              VARCHAR(20) NOT NULL,
    group_name            VARCHAR(100),
    group_name_local      VARCHAR(100),
    office_site_name      VARCHAR(100),
    annual_revenue        NUMERIC(18,2),
    num_employees         NUMERIC(20,0),
    ticker_symbol         VARCHAR(10),
    comments              VARCHAR(255),
    logo_image_url        VARCHAR(2000),
    -- HotWax's
    pdf_logo_image_url    VARCHAR(2000),
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_party_group PRIMARY KEY (party_id)
);

CREATE TABLE IF NOT EXISTS role_type (
    role_type_id          VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_role_type PRIMARY KEY (role_type_id)
);

CREATE TABLE IF NOT EXISTS party_role (
    party_id              VARCHAR(20) NOT NULL,
    role_type_id          VARCHAR(20) NOT NULL,
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_party_role PRIMARY KEY (party_id, role_type_id)
);

CREATE TABLE IF NOT EXISTS party_status (
    status_id               VARCHAR(20) NOT NULL,
    party_id                VARCHAR(20) NOT NULL,
    status_date             TIMESTAMPTZ NOT NULL,
    change_by_user_login_id VARCHAR(255),
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_party_status PRIMARY KEY (status_id, party_id, status_date)
);

CREATE TABLE IF NOT EXISTS party_identification (
    party_id                     VARCHAR(20) NOT NULL,
    party_identification_type_id VARCHAR(20) NOT NULL,
    id_value                     VARCHAR(60),
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_party_identification PRIMARY KEY (party_id, party_identification_type_id)
);

CREATE TABLE IF NOT EXISTS user_login (
    user_login_id            VARCHAR(255) NOT NULL,
    current_password         VARCHAR(255),
    password_hint            VARCHAR(255),
    is_system                CHAR(1),
    enabled                  CHAR(1),
    has_logged_out           CHAR(1),
    require_password_change  CHAR(1),
    last_currency_uom        VARCHAR(20),
    last_locale              VARCHAR(10),
    last_time_zone           VARCHAR(60),
    disabled_date_time       TIMESTAMPTZ,
    successive_failed_logins NUMERIC(20,0),
    external_auth_id         VARCHAR(255),
    user_ldap_dn             VARCHAR(255),
    disabled_by              VARCHAR(255),
    party_id                 VARCHAR(20),
    -- HotWax's
    is_external              CHAR(1),
    -- stamps
    last_updated_stamp       TIMESTAMPTZ,
    last_updated_tx_stamp    TIMESTAMPTZ,
    created_stamp            TIMESTAMPTZ,
    created_tx_stamp         TIMESTAMPTZ,
    CONSTRAINT pk_user_login PRIMARY KEY (user_login_id)
);

CREATE TABLE IF NOT EXISTS contact_mech_type (
    contact_mech_type_id  VARCHAR(20) NOT NULL,
    parent_type_id        VARCHAR(20),
    has_table             CHAR(1),
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_contact_mech_type PRIMARY KEY (contact_mech_type_id)
);

CREATE TABLE IF NOT EXISTS contact_mech (
    contact_mech_id       VARCHAR(20) NOT NULL,
    contact_mech_type_id  VARCHAR(20),
    info_string           VARCHAR(255),
    -- HotWax's
    external_id           VARCHAR(60),
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_contact_mech PRIMARY KEY (contact_mech_id)
);

CREATE TABLE IF NOT EXISTS contact_mech_purpose_type (
    contact_mech_purpose_type_id VARCHAR(20) NOT NULL,
    parent_type_id               VARCHAR(20),
    has_table                    CHAR(1),
    description                  VARCHAR(255),
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_contact_mech_purpose_type PRIMARY KEY (contact_mech_purpose_type_id)
);

CREATE TABLE IF NOT EXISTS party_contact_mech (
    party_id                 VARCHAR(20) NOT NULL,
    contact_mech_id          VARCHAR(20) NOT NULL,
    from_date                TIMESTAMPTZ NOT NULL,
    thru_date                TIMESTAMPTZ,
    role_type_id             VARCHAR(20),
    allow_solicitation       CHAR(1),
    extension                VARCHAR(255),
    verified                 CHAR(1),
    comments                 VARCHAR(255),
    years_with_contact_mech  NUMERIC(20,0),
    months_with_contact_mech NUMERIC(20,0),
    last_updated_stamp       TIMESTAMPTZ,
    last_updated_tx_stamp    TIMESTAMPTZ,
    created_stamp            TIMESTAMPTZ,
    created_tx_stamp         TIMESTAMPTZ,
    CONSTRAINT pk_party_contact_mech PRIMARY KEY (party_id, contact_mech_id, from_date)
);

CREATE TABLE IF NOT EXISTS party_contact_mech_purpose (
    party_id                     VARCHAR(20) NOT NULL,
    contact_mech_id              VARCHAR(20) NOT NULL,
    contact_mech_purpose_type_id VARCHAR(20) NOT NULL,
    from_date                    TIMESTAMPTZ NOT NULL,
    thru_date                    TIMESTAMPTZ,
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_party_contact_mech_purpose PRIMARY KEY (party_id, contact_mech_id, contact_mech_purpose_type_id, from_date)
);

CREATE TABLE IF NOT EXISTS postal_address (
    contact_mech_id       VARCHAR(20) NOT NULL,
    to_name               VARCHAR(100),
    attn_name             VARCHAR(100),
    address1              VARCHAR(255),
    address2              VARCHAR(255),
    house_number          NUMERIC(20,0),
    house_number_ext      VARCHAR(60),
    directions            VARCHAR(255),
    city                  VARCHAR(100),
    city_geo_id           VARCHAR(20),
    postal_code           VARCHAR(60),
    postal_code_ext       VARCHAR(60),
    country_geo_id        VARCHAR(20),
    state_province_geo_id VARCHAR(20),
    county_geo_id         VARCHAR(20),
    municipality_geo_id   VARCHAR(20),
    postal_code_geo_id    VARCHAR(20),
    geo_point_id          VARCHAR(20),
    -- HotWax's
    encoded_address_key   VARCHAR(255),
    latitude              FLOAT8,
    longitude             FLOAT8,
    -- stamps
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_postal_address PRIMARY KEY (contact_mech_id)
);

CREATE TABLE IF NOT EXISTS telecom_number (
    contact_mech_id       VARCHAR(20) NOT NULL,
    country_code          VARCHAR(10),
    area_code             VARCHAR(10),
    contact_number        VARCHAR(60),
    ask_for_name          VARCHAR(100),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_telecom_number PRIMARY KEY (contact_mech_id)
);

CREATE TABLE IF NOT EXISTS note_data (
    note_id               VARCHAR(20) NOT NULL,
    note_name             VARCHAR(100),
    note_info             TEXT,
    note_date_time        TIMESTAMPTZ,
    note_party            VARCHAR(20),
    more_info_url         VARCHAR(2000),
    more_info_item_id     VARCHAR(20),
    more_info_item_name   VARCHAR(100),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_note_data PRIMARY KEY (note_id)
);
