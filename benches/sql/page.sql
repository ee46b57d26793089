SELECT json_build_object('orders', json_build_object('edges', (
    SELECT coalesce(json_agg(json_build_object('node', json_build_object(
        'orderId', o.order_id,
        'orderName', o.order_name,
        'statusId', o.status_id,
        'orderDate', o.order_date,
        'grandTotal', o.grand_total,
        'currencyUomId', o.currency_uom,
        'externalId', o.external_id
    ))), '[]')
    FROM (
        SELECT *
        FROM order_header
        WHERE status_id = 'ORDER_COMPLETED' AND (order_date, order_id) < ({date}, {order})
        ORDER BY order_date DESC, order_id DESC
        LIMIT 50
    ) AS o
)))
