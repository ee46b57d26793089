-- What HotWax's GraphQL API publishes of products and stores: attributes and keywords of products, their prices and features of all
-- times, and settings of stores.

CREATE TABLE IF NOT EXISTS product_attribute (
    product_id            VARCHAR(20) NOT NULL,
    attr_name             VARCHAR(60) NOT NULL,
    attr_value            VARCHAR(255),
    attr_type             VARCHAR(255),
    attr_description      VARCHAR(255),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_product_attribute PRIMARY KEY (product_id, attr_name)
);

-- OFBiz's entity ProductKeyword. The table product_keyword, where there is one, is of an older entity.
CREATE TABLE IF NOT EXISTS product_keyword_new (
    product_id            VARCHAR(20) NOT NULL,
    keyword               VARCHAR(60) NOT NULL,
    keyword_type_id       VARCHAR(20) NOT NULL,
    relevancy_weight      NUMERIC(20,0),
    status_id             VARCHAR(20),
    last_updated_stamp    TIMESTAMPTZ,
    last_updated_tx_stamp TIMESTAMPTZ,
    created_stamp         TIMESTAMPTZ,
    created_tx_stamp      TIMESTAMPTZ,
    CONSTRAINT pk_product_keyword_new PRIMARY KEY (product_id, keyword, keyword_type_id)
);

-- HotWax's settings of stores, which stock OFBiz lacks. Nothing fills them there.
ALTER TABLE product_store ADD COLUMN IF NOT EXISTS allow_split CHAR(1);
ALTER TABLE product_store ADD COLUMN IF NOT EXISTS product_identifier_enum_id VARCHAR(20);

-- The features of products in all periods.
CREATE OR REPLACE VIEW orderql.applied_feature AS
SELECT
    applied.product_id,
    applied.product_feature_id,
    applied.from_date,
    applied.product_feature_appl_type_id,
    applied.sequence_num,
    feature.product_feature_type_id,
    feature.description,
    feature.abbrev
FROM product_feature_appl AS applied
LEFT JOIN product_feature AS feature ON feature.product_feature_id = applied.product_feature_id;

-- The current features of products, each once: of several periods the newest. `orderql.product_feature` has them without `from_date`,
-- for servers of before.
CREATE OR REPLACE VIEW orderql.current_feature AS
SELECT
    applied.product_id,
    applied.product_feature_id,
    applied.from_date,
    applied.product_feature_appl_type_id,
    applied.sequence_num,
    feature.product_feature_type_id,
    feature.description,
    feature.abbrev
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
