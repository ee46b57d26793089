-- The columns that a stock OFBiz table lacks and orderql reads or writes. All may be null and none has a default, so that
-- PostgreSQL adds each at once, whatever the table's size, and OFBiz's own statements go on as before.
--
-- Of HotWax's other columns (see the table files) none is added to a table that stood: nothing here needs them.

-- Which ship group an item is in. Stock OFBiz knows it through order_item_ship_group_assoc alone.
ALTER TABLE order_item ADD COLUMN IF NOT EXISTS ship_group_seq_id VARCHAR(20);
-- Which shipment an item, or what is reserved for it, is in; the order update keeps it where it is kept.
ALTER TABLE order_item ADD COLUMN IF NOT EXISTS shipment_id VARCHAR(20);
ALTER TABLE order_item_ship_grp_inv_res ADD COLUMN IF NOT EXISTS shipment_id VARCHAR(20);
ALTER TABLE order_status ADD COLUMN IF NOT EXISTS change_reason_enum_id VARCHAR(20);

ALTER TABLE shipment ADD COLUMN IF NOT EXISTS external_id VARCHAR(60);
ALTER TABLE shipment ADD COLUMN IF NOT EXISTS carrier_party_id VARCHAR(20);
ALTER TABLE shipment ADD COLUMN IF NOT EXISTS shipment_method_type_id VARCHAR(20);
ALTER TABLE shipment_method_type ADD COLUMN IF NOT EXISTS parent_type_id VARCHAR(20);
ALTER TABLE shipment_package ADD COLUMN IF NOT EXISTS package_name VARCHAR(255);
ALTER TABLE shipment_package_route_seg ADD COLUMN IF NOT EXISTS label_image_url VARCHAR(2000);
ALTER TABLE shipment_route_segment ADD COLUMN IF NOT EXISTS tracking_url VARCHAR(255);

ALTER TABLE return_header ADD COLUMN IF NOT EXISTS external_id VARCHAR(60);
ALTER TABLE return_header ADD COLUMN IF NOT EXISTS return_date TIMESTAMPTZ;
ALTER TABLE return_adjustment ADD COLUMN IF NOT EXISTS order_id VARCHAR(20);

ALTER TABLE facility ADD COLUMN IF NOT EXISTS external_id VARCHAR(60);
ALTER TABLE good_identification ADD COLUMN IF NOT EXISTS from_date TIMESTAMPTZ;
ALTER TABLE good_identification ADD COLUMN IF NOT EXISTS thru_date TIMESTAMPTZ;

-- The item that holds a product's stock at a facility now.
ALTER TABLE product_facility ADD COLUMN IF NOT EXISTS inventory_item_id VARCHAR(20);
ALTER TABLE inventory_item_variance ADD COLUMN IF NOT EXISTS reason_enum_id VARCHAR(20);
