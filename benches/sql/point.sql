SELECT json_build_object('order', (
    SELECT json_build_object(
        'orderName', o.order_name,
        'statusId', o.status_id,
        'orderDate', o.order_date,
        'grandTotal', o.grand_total,
        'currencyUomId', o.currency_uom
    )
    FROM order_header AS o
    WHERE o.order_id = {order}
))
