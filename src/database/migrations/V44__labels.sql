-- The tables of types that give further ids their names: kinds of inventory items, areas, applied features and purposes of prices.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['inventory_item_type', 'geo_type', 'product_feature_appl_type']
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

CREATE TABLE IF NOT EXISTS product_price_purpose (
    product_price_purpose_id VARCHAR(20) NOT NULL,
    description              VARCHAR(255),
    last_updated_stamp       TIMESTAMPTZ,
    last_updated_tx_stamp    TIMESTAMPTZ,
    created_stamp            TIMESTAMPTZ,
    created_tx_stamp         TIMESTAMPTZ,
    CONSTRAINT pk_product_price_purpose PRIMARY KEY (product_price_purpose_id)
);
