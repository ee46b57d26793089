UPDATE order_item SET status_id = 'ITEM_CANCELLED' WHERE order_id = 'ORDER_IN_PROGRESS' AND order_item_seq_id = '00002';
