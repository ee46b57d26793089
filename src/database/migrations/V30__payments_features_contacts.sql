-- What support, finance and integrations ask: payments with the responses of payment gateways, gift cards, features, prices and
-- images of products, contacts of parties, and the tables of types that give ids their names; searches by e-mail address in any
-- case, by telephone number, and by destination.

-- What the gateway answered to an authorization, a capture or a refund, and the payments that came of them.
CREATE TABLE IF NOT EXISTS payment (
    payment_id                  VARCHAR(20) NOT NULL,
    payment_type_id             VARCHAR(20),
    payment_method_type_id      VARCHAR(20),
    payment_method_id           VARCHAR(20),
    payment_gateway_response_id VARCHAR(20),
    payment_preference_id       VARCHAR(20),
    party_id_from               VARCHAR(20),
    party_id_to                 VARCHAR(20),
    role_type_id_to             VARCHAR(20),
    status_id                   VARCHAR(20),
    effective_date              TIMESTAMPTZ,
    payment_ref_num             VARCHAR(60),
    amount                      NUMERIC(18,2),
    currency_uom_id             VARCHAR(20),
    comments                    VARCHAR(255),
    fin_account_trans_id        VARCHAR(20),
    override_gl_account_id      VARCHAR(20),
    actual_currency_amount      NUMERIC(18,2),
    actual_currency_uom_id      VARCHAR(20),
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_payment PRIMARY KEY (payment_id)
);

CREATE TABLE IF NOT EXISTS payment_gateway_response (
    payment_gateway_response_id  VARCHAR(20) NOT NULL,
    payment_service_type_enum_id VARCHAR(20),
    order_payment_preference_id  VARCHAR(20),
    payment_method_type_id       VARCHAR(20),
    payment_method_id            VARCHAR(20),
    trans_code_enum_id           VARCHAR(20),
    amount                       NUMERIC(18,2),
    currency_uom_id              VARCHAR(20),
    reference_num                VARCHAR(60),
    alt_reference                VARCHAR(60),
    sub_reference                VARCHAR(60),
    gateway_code                 VARCHAR(60),
    gateway_flag                 VARCHAR(60),
    gateway_avs_result           VARCHAR(60),
    gateway_cv_result            VARCHAR(60),
    gateway_score_result         VARCHAR(60),
    gateway_message              VARCHAR(255),
    transaction_date             TIMESTAMPTZ,
    result_declined              CHAR(1),
    result_nsf                   CHAR(1),
    result_bad_expire            CHAR(1),
    result_bad_card_number       CHAR(1),
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_payment_gateway_response PRIMARY KEY (payment_gateway_response_id)
);

CREATE TABLE IF NOT EXISTS gift_card (
    payment_method_id     VARCHAR(20) NOT NULL,
    card_number           VARCHAR(255),
    pin_number            VARCHAR(255),
    expire_date           VARCHAR(60),
    contact_mech_id       VARCHAR(20),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_gift_card PRIMARY KEY (payment_method_id)
);

CREATE TABLE IF NOT EXISTS return_item_response (
    return_item_response_id     VARCHAR(20) NOT NULL,
    order_payment_preference_id VARCHAR(20),
    replacement_order_id        VARCHAR(20),
    payment_id                  VARCHAR(20),
    billing_account_id          VARCHAR(20),
    fin_account_trans_id        VARCHAR(20),
    response_amount             NUMERIC(18,2),
    response_date               TIMESTAMPTZ,
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_return_item_response PRIMARY KEY (return_item_response_id)
);

CREATE TABLE IF NOT EXISTS product_feature (
    product_feature_id          VARCHAR(20) NOT NULL,
    product_feature_type_id     VARCHAR(20),
    product_feature_category_id VARCHAR(20),
    description                 VARCHAR(255),
    uom_id                      VARCHAR(20),
    number_specified            NUMERIC(18,6),
    default_amount              NUMERIC(18,2),
    default_sequence_num        NUMERIC(20,0),
    abbrev                      VARCHAR(60),
    id_code                     VARCHAR(60),
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_product_feature PRIMARY KEY (product_feature_id)
);

CREATE TABLE IF NOT EXISTS product_feature_appl (
    product_id                   VARCHAR(20) NOT NULL,
    product_feature_id           VARCHAR(20) NOT NULL,
    product_feature_appl_type_id VARCHAR(20),
    from_date                    TIMESTAMPTZ NOT NULL,
    thru_date                    TIMESTAMPTZ,
    sequence_num                 NUMERIC(20,0),
    amount                       NUMERIC(18,2),
    recurring_amount             NUMERIC(18,2),
    last_updated_stamp           TIMESTAMPTZ,
    last_updated_tx_stamp        TIMESTAMPTZ,
    created_stamp                TIMESTAMPTZ,
    created_tx_stamp             TIMESTAMPTZ,
    CONSTRAINT pk_product_feature_appl PRIMARY KEY (product_id, product_feature_id, from_date)
);

CREATE TABLE IF NOT EXISTS product_price (
    product_id                  VARCHAR(20) NOT NULL,
    product_price_type_id       VARCHAR(20) NOT NULL,
    product_price_purpose_id    VARCHAR(20) NOT NULL,
    currency_uom_id             VARCHAR(20) NOT NULL,
    product_store_group_id      VARCHAR(20) NOT NULL,
    from_date                   TIMESTAMPTZ NOT NULL,
    thru_date                   TIMESTAMPTZ,
    price                       NUMERIC(18,3),
    term_uom_id                 VARCHAR(20),
    custom_price_calc_service   VARCHAR(20),
    price_without_tax           NUMERIC(18,3),
    price_with_tax              NUMERIC(18,3),
    tax_amount                  NUMERIC(18,3),
    tax_percentage              NUMERIC(18,6),
    tax_auth_party_id           VARCHAR(20),
    tax_auth_geo_id             VARCHAR(20),
    tax_in_price                CHAR(1),
    created_date                TIMESTAMPTZ,
    created_by_user_login       VARCHAR(255),
    last_modified_date          TIMESTAMPTZ,
    last_modified_by_user_login VARCHAR(255),
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_product_price PRIMARY KEY
        (product_id, product_price_type_id, product_price_purpose_id, currency_uom_id, product_store_group_id, from_date)
);

CREATE TABLE IF NOT EXISTS product_content (
    product_id              VARCHAR(20) NOT NULL,
    content_id              VARCHAR(20) NOT NULL,
    product_content_type_id VARCHAR(20) NOT NULL,
    from_date               TIMESTAMPTZ NOT NULL,
    thru_date               TIMESTAMPTZ,
    purchase_from_date      TIMESTAMPTZ,
    purchase_thru_date      TIMESTAMPTZ,
    use_count_limit         NUMERIC(20,0),
    use_time                NUMERIC(20,0),
    use_time_uom_id         VARCHAR(20),
    use_role_type_id        VARCHAR(20),
    sequence_num            NUMERIC(20,0),
    last_updated_stamp      TIMESTAMPTZ,
    last_updated_tx_stamp   TIMESTAMPTZ,
    created_stamp           TIMESTAMPTZ,
    created_tx_stamp        TIMESTAMPTZ,
    CONSTRAINT pk_product_content PRIMARY KEY (product_id, content_id, product_content_type_id, from_date)
);

CREATE TABLE IF NOT EXISTS content (
    content_id                  VARCHAR(20) NOT NULL,
    content_type_id             VARCHAR(20),
    owner_content_id            VARCHAR(20),
    decorator_content_id        VARCHAR(20),
    instance_of_content_id      VARCHAR(20),
    data_resource_id            VARCHAR(20),
    template_data_resource_id   VARCHAR(20),
    data_source_id              VARCHAR(20),
    status_id                   VARCHAR(20),
    privilege_enum_id           VARCHAR(20),
    service_name                VARCHAR(255),
    custom_method_id            VARCHAR(20),
    content_name                VARCHAR(100),
    description                 VARCHAR(255),
    locale_string               VARCHAR(20),
    mime_type_id                VARCHAR(60),
    character_set_id            VARCHAR(20),
    child_leaf_count            NUMERIC(20,0),
    child_branch_count          NUMERIC(20,0),
    created_date                TIMESTAMPTZ,
    created_by_user_login       VARCHAR(255),
    last_modified_date          TIMESTAMPTZ,
    last_modified_by_user_login VARCHAR(255),
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_content PRIMARY KEY (content_id)
);

CREATE TABLE IF NOT EXISTS data_resource (
    data_resource_id            VARCHAR(20) NOT NULL,
    data_resource_type_id       VARCHAR(20),
    data_template_type_id       VARCHAR(20),
    data_category_id            VARCHAR(20),
    data_source_id              VARCHAR(20),
    status_id                   VARCHAR(20),
    data_resource_name          VARCHAR(100),
    locale_string               VARCHAR(20),
    mime_type_id                VARCHAR(60),
    character_set_id            VARCHAR(20),
    object_info                 VARCHAR(255),
    survey_id                   VARCHAR(20),
    survey_response_id          VARCHAR(20),
    related_detail_id           VARCHAR(20),
    is_public                   CHAR(1),
    created_date                TIMESTAMPTZ,
    created_by_user_login       VARCHAR(255),
    last_modified_date          TIMESTAMPTZ,
    last_modified_by_user_login VARCHAR(255),
    last_updated_stamp          TIMESTAMPTZ,
    last_updated_tx_stamp       TIMESTAMPTZ,
    created_stamp               TIMESTAMPTZ,
    created_tx_stamp            TIMESTAMPTZ,
    CONSTRAINT pk_data_resource PRIMARY KEY (data_resource_id)
);

-- Types, which are all alike.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['payment_type', 'return_adjustment_type', 'return_item_type', 'product_feature_type', 'product_content_type']
    LOOP
        EXECUTE format(
            'CREATE TABLE IF NOT EXISTS %1$I (
                %2$I                  VARCHAR(20) NOT NULL,
                parent_type_id        VARCHAR(20),
                has_table             CHAR(1),
                description           VARCHAR(255),
                last_updated_stamp    TIMESTAMPTZ,
                last_updated_tx_stamp TIMESTAMPTZ,
                created_stamp         TIMESTAMPTZ,
                created_tx_stamp      TIMESTAMPTZ,
                CONSTRAINT %3$I PRIMARY KEY (%2$I)
            )',
            name, name || '_id', 'pk_' || name
        );
    END LOOP;
END;
$$;

CREATE TABLE IF NOT EXISTS product_price_type (
    product_price_type_id VARCHAR(20) NOT NULL,
    description           VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_product_price_type PRIMARY KEY (product_price_type_id)
);

SELECT orderql.add_index(name, relation, columns)
FROM (VALUES
    ('oql_payment_of_preference',                   'payment',                  'payment_preference_id, payment_id'),
    ('oql_payment_gateway_response_of_preference',  'payment_gateway_response', 'order_payment_preference_id, payment_gateway_response_id'),
    ('oql_party_contact_mech_with_contact',         'party_contact_mech',       'contact_mech_id, party_id'),
    ('oql_inventory_item_detail_by_effective_date', 'inventory_item_detail',    'effective_date, inventory_item_id, inventory_item_detail_seq_id'),
    ('oql_inventory_item_detail_of_order_by_date',  'inventory_item_detail',    'order_id, effective_date, inventory_item_id, inventory_item_detail_seq_id')
) AS listed (name, relation, columns);

-- What comes to a facility.
SELECT orderql.add_search_index(name, 'return_header', columns, included)
FROM (VALUES
    ('oql_return_header_to_facility_by_date', 'destination_facility_id, entry_date, return_id', 'status_id, from_party_id, return_date'),
    ('oql_return_header_to_facility_by_id',   'destination_facility_id, return_id',             'status_id, from_party_id, entry_date, return_date')
) AS listed (name, columns, included);

-- Most states are of no payment, and most shipments come to no facility. They are in no index, so that writing them costs nothing.
CREATE INDEX IF NOT EXISTS oql_order_status_of_preference ON order_status (order_payment_preference_id, order_status_id)
WHERE order_payment_preference_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS oql_shipment_to_facility_by_date ON shipment (destination_facility_id, estimated_ship_date, shipment_id)
INCLUDE (status_id, shipment_type_id)
WHERE destination_facility_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS oql_shipment_to_facility_by_id ON shipment (destination_facility_id, shipment_id)
INCLUDE (status_id, shipment_type_id, estimated_ship_date)
WHERE destination_facility_id IS NOT NULL;

-- A gift card by the end of its number. A number that OFBiz encrypted has none that means anything. The PIN is not read at all.
CREATE OR REPLACE VIEW orderql.gift_card AS
SELECT
    card.payment_method_id,
    CASE WHEN card.card_number ~ '^[0-9 -]+$' THEN right(card.card_number, 4) END AS last_digits,
    card.expire_date
FROM gift_card AS card;

-- The current ways to reach a party, each once for each of its purposes.
CREATE OR REPLACE VIEW orderql.party_contact AS
SELECT
    purpose.party_id,
    purpose.contact_mech_id,
    purpose.contact_mech_purpose_type_id,
    mechanism.info_string
FROM party_contact_mech_purpose AS purpose
LEFT JOIN contact_mech AS mechanism ON mechanism.contact_mech_id = purpose.contact_mech_id
WHERE purpose.from_date <= CURRENT_TIMESTAMP
  AND (purpose.thru_date IS NULL OR purpose.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM party_contact_mech_purpose AS newer
    WHERE newer.party_id = purpose.party_id
      AND newer.contact_mech_id = purpose.contact_mech_id
      AND newer.contact_mech_purpose_type_id = purpose.contact_mech_purpose_type_id
      AND newer.from_date > purpose.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  )
  AND EXISTS (
    SELECT
    FROM party_contact_mech AS link
    WHERE link.party_id = purpose.party_id
      AND link.contact_mech_id = purpose.contact_mech_id
      AND link.from_date <= CURRENT_TIMESTAMP
      AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP)
  );

-- The current features of products, each once: of several periods the newest.
CREATE OR REPLACE VIEW orderql.product_feature AS
SELECT
    applied.product_id,
    applied.product_feature_id,
    applied.product_feature_appl_type_id,
    applied.sequence_num,
    feature.product_feature_type_id,
    feature.description,
    feature.abbrev,
    feature.id_code
FROM product_feature_appl AS applied
LEFT JOIN product_feature AS feature ON feature.product_feature_id = applied.product_feature_id
WHERE applied.from_date <= CURRENT_TIMESTAMP
  AND (applied.thru_date IS NULL OR applied.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM product_feature_appl AS newer
    WHERE newer.product_id = applied.product_id
      AND newer.product_feature_id = applied.product_feature_id
      AND newer.from_date > applied.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  );

-- The current prices of products: of each type, purpose, currency and group of stores the newest.
CREATE OR REPLACE VIEW orderql.product_price AS
SELECT
    price_now.product_id,
    price_now.product_price_type_id,
    price_now.product_price_purpose_id,
    price_now.currency_uom_id,
    price_now.product_store_group_id,
    price_now.price,
    price_now.from_date,
    price_now.thru_date
FROM product_price AS price_now
WHERE price_now.from_date <= CURRENT_TIMESTAMP
  AND (price_now.thru_date IS NULL OR price_now.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM product_price AS newer
    WHERE newer.product_id = price_now.product_id
      AND newer.product_price_type_id = price_now.product_price_type_id
      AND newer.product_price_purpose_id = price_now.product_price_purpose_id
      AND newer.currency_uom_id = price_now.currency_uom_id
      AND newer.product_store_group_id = price_now.product_store_group_id
      AND newer.from_date > price_now.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  );

-- The current images of products: contents of a type that names an image, and where each is.
CREATE OR REPLACE VIEW orderql.product_image AS
SELECT
    link.product_id,
    link.content_id,
    link.product_content_type_id,
    link.sequence_num,
    content.description,
    COALESCE(resource.mime_type_id, content.mime_type_id) AS mime_type_id,
    resource.object_info AS url
FROM product_content AS link
LEFT JOIN content ON content.content_id = link.content_id
LEFT JOIN data_resource AS resource ON resource.data_resource_id = content.data_resource_id
WHERE link.product_content_type_id LIKE '%IMAGE%'
  AND link.from_date <= CURRENT_TIMESTAMP
  AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP)
  AND NOT EXISTS (
    SELECT
    FROM product_content AS newer
    WHERE newer.product_id = link.product_id
      AND newer.content_id = link.content_id
      AND newer.product_content_type_id = link.product_content_type_id
      AND newer.from_date > link.from_date
      AND newer.from_date <= CURRENT_TIMESTAMP
      AND (newer.thru_date IS NULL OR newer.thru_date > CURRENT_TIMESTAMP)
  );

-- E-mail addresses of orders and of parties in lower case. One without an order or a party has a row as well, so that a search that
-- is bounded by its rows is bounded by the addresses that it reads. `orderql.order_email` has them as they were entered, for
-- servers of before.
CREATE INDEX IF NOT EXISTS oql_contact_mech_email_in_lower_case ON contact_mech (lower(info_string COLLATE "C"), contact_mech_id)
WHERE contact_mech_type_id = 'EMAIL_ADDRESS';

CREATE OR REPLACE VIEW orderql.order_email_address AS
SELECT link.order_id, lower(mechanism.info_string COLLATE "C") AS email_address
FROM contact_mech AS mechanism
LEFT JOIN order_contact_mech AS link ON link.contact_mech_id = mechanism.contact_mech_id
WHERE mechanism.contact_mech_type_id = 'EMAIL_ADDRESS';

CREATE OR REPLACE VIEW orderql.party_email_address AS
SELECT link.party_id, lower(mechanism.info_string COLLATE "C") AS email_address
FROM contact_mech AS mechanism
LEFT JOIN party_contact_mech AS link
  ON link.contact_mech_id = mechanism.contact_mech_id
  AND link.from_date <= CURRENT_TIMESTAMP
  AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP)
WHERE mechanism.contact_mech_type_id = 'EMAIL_ADDRESS';

-- Telephone numbers by their last nine digits, so that neither the country's code and zeros before the area's code nor the way in
-- which a number is written or split matters.
CREATE INDEX IF NOT EXISTS oql_telecom_number_by_last_digits ON telecom_number ((
    right(regexp_replace(coalesce(country_code, '') || coalesce(area_code, '') || coalesce(contact_number, ''), '[^0-9]', '', 'g'), 9)
), contact_mech_id);

CREATE OR REPLACE VIEW orderql.order_phone AS
SELECT
    link.order_id,
    right(regexp_replace(
        coalesce(number.country_code, '') || coalesce(number.area_code, '') || coalesce(number.contact_number, ''), '[^0-9]', '', 'g'
    ), 9) AS phone
FROM telecom_number AS number
LEFT JOIN order_contact_mech AS link ON link.contact_mech_id = number.contact_mech_id;

CREATE OR REPLACE VIEW orderql.party_phone AS
SELECT
    link.party_id,
    right(regexp_replace(
        coalesce(number.country_code, '') || coalesce(number.area_code, '') || coalesce(number.contact_number, ''), '[^0-9]', '', 'g'
    ), 9) AS phone
FROM telecom_number AS number
LEFT JOIN party_contact_mech AS link
  ON link.contact_mech_id = number.contact_mech_id
  AND link.from_date <= CURRENT_TIMESTAMP
  AND (link.thru_date IS NULL OR link.thru_date > CURRENT_TIMESTAMP);
