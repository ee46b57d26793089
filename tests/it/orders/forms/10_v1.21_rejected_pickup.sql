UPDATE order_item_ship_group SET shipment_method_type_id = 'STOREPICKUP' WHERE order_id = 'ORDER_IN_PROGRESS_2';
