-- The loader sets the time of loading. These orders were changed an hour after they were placed.
UPDATE order_header SET last_updated_stamp = coalesce(order_date, timestamptz '2026-01-01') + interval '1 hour';

-- The loader's files have no groups that must leave by a moment.
UPDATE order_item_ship_group SET ship_by_date = '2026-03-04 18:00:00+00' WHERE order_id = 'ORDER_SPLIT';
