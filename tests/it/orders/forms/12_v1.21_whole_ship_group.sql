UPDATE order_item_ship_group SET may_split = 'N' WHERE order_id = 'ORDER_IN_PROGRESS';
UPDATE order_item SET status_id = 'ITEM_COMPLETED' WHERE order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id = '00005';
