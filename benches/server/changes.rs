//! What the triggers of the change feed cost writers: transactions that write orders as the sample has them, row by row, with and
//! without the triggers. And requests that wait for changes ([`parked`]).

mod parked;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use orderql::database::connection::connect::connect;
use serde_json::{Value, json};
use tokio_postgres::{Client, Config};

use crate::LoadOptions;
use crate::database::Database;
use crate::error::{BenchError, Result};
use crate::output;
use crate::report::Report;
use crate::statistics::median;

/// A copy of the sample that is written to.
const COPY: &str = "changes";

const WRITERS: usize = 4;

/// Orders that are written again and again under new ids.
const ORDERS: i64 = 300;

/// The tables whose rows have an order's id, with the last column of their key if an order's id is not in it.
const TABLES: &str = "
    SELECT part.relation, part.by_column, CASE WHEN part.by_column = ANY(key.columns) THEN NULL ELSE key.columns[cardinality(key.columns)] END
    FROM orderql.sync_part AS part
    CROSS JOIN LATERAL (
        SELECT array_agg(attname::text ORDER BY place) AS columns
        FROM pg_index
        CROSS JOIN unnest(indkey) WITH ORDINALITY AS listed (number, place)
        JOIN pg_attribute ON attrelid = indrelid AND attnum = number
        WHERE indrelid = ('public.' || part.relation)::regclass AND indisprimary
    ) AS key
    WHERE part.through = ''
    ORDER BY part.relation = 'order_header' DESC, part.relation = 'order_item_ship_group' DESC, part.relation LIKE 'order%' DESC, part.relation";

/// A row of an order, and its columns that are new in each copy.
struct Row {
    table: String,
    values: serde_json::Map<String, Value>,
    order_column: String,
    id_column: Option<String>,
}

/// Measures the copy of a sample.
pub fn run(options: &LoadOptions) -> Result<()> {
    let database = Database::open(&options.database)?;
    let config = database.address().config(COPY);
    let mut report = Report::default();
    database.block_on(async {
        database.address().drop_database(COPY).await?;
        database.address().create_database(COPY, Some(database.name())).await?;
        measure(&config, options, &mut report).await
    })?;
    parked::measure(&database, &config, &mut report)?;
    database.block_on(database.address().drop_database(COPY))?;
    let out = options.out.clone().map_or_else(|| output::file("changes.json"), Ok)?;
    let settings = json!({ "orders": options.database.orders, "rounds": options.rounds, "seconds": options.seconds, "writers": WRITERS });
    report.finish(&out, &database.machine()?, &settings)
}

async fn measure(config: &Config, options: &LoadOptions, report: &mut Report) -> Result<()> {
    let client = connect(config).await?;
    let orders = rows(&client).await?;
    let time = Duration::from_secs_f64(options.seconds);
    let mut figures: BTreeMap<bool, Vec<f64>> = BTreeMap::new();
    for round in 1..=options.rounds {
        // Both orders of turns, so that growth of the tables favours none.
        for has_triggers in [round % 2 == 0, round % 2 != 0] {
            set_triggers(&client, has_triggers).await?;
            let writers = (0..WRITERS)
                .map(|writer| write(config, &orders, format!("{round}{}{writer}", u8::from(has_triggers)), time));
            let written: u64 = futures_util::future::try_join_all(writers).await?.into_iter().sum();
            let rate = written as f64 / time.as_secs_f64();
            eprintln!("round {round} of {}: {rate:.0} orders a second, triggers: {has_triggers}", options.rounds);
            figures.entry(has_triggers).or_default().push(rate);
        }
    }
    let [without, with] = [false, true].map(|has| median(figures.remove(&has).unwrap_or_default()));
    let count: usize = orders.iter().map(Vec::len).sum();
    report.table(
        "writers",
        vec![vec![
            ("rows of an order", json!(count as f64 / orders.len() as f64)),
            ("orders a second without triggers", json!(without)),
            ("with", json!(with)),
        ]],
    );
    report.at_least("orders written a second with triggers / without", with / without, 0.9);
    Ok(())
}

/// The rows of some orders.
async fn rows(client: &Client) -> Result<Vec<Vec<Row>>> {
    let mut orders: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for table in client.query(TABLES, &[]).await? {
        let (table, order_column, id_column): (String, String, Option<String>) =
            (table.try_get(0)?, table.try_get(1)?, table.try_get(2)?);
        let select = format!(
            "SELECT to_jsonb(written)::text, {order_column}::text FROM public.{table} AS written
             WHERE {order_column} IN (SELECT order_id FROM order_header ORDER BY md5(order_id) LIMIT $1)"
        );
        for row in client.query(&select, &[&ORDERS]).await? {
            let values = serde_json::from_str(row.try_get(0)?)?;
            let (table, order_column, id_column) = (table.clone(), order_column.clone(), id_column.clone());
            orders.entry(row.try_get(1)?).or_default().push(Row { table, values, order_column, id_column });
        }
    }
    if orders.is_empty() {
        return Err(BenchError::Data("the database has no orders".to_owned()));
    }
    Ok(orders.into_values().collect())
}

async fn set_triggers(client: &Client, has_triggers: bool) -> Result<()> {
    let mode = if has_triggers { "ENABLE ALWAYS" } else { "DISABLE" };
    let statements = "SELECT DISTINCT format('ALTER TABLE %s %s TRIGGER orderql_order_change', orderql.sync_relation(relation), $1::text)
                      FROM orderql.sync_part";
    for row in client.query(statements, &[&mode]).await? {
        client.batch_execute(row.try_get(0)?).await?;
    }
    client.batch_execute("CHECKPOINT").await?;
    Ok(())
}

/// Writes orders, a transaction each, for some time. Returns their number.
async fn write(config: &Config, orders: &[Vec<Row>], name: String, time: Duration) -> Result<u64> {
    let client = connect(config).await?;
    let mut statements = BTreeMap::new();
    for row in orders.iter().flatten() {
        if !statements.contains_key(&row.table) {
            let insert = format!(
                "INSERT INTO public.{0} SELECT * FROM jsonb_populate_record(NULL::public.{0}, $1::text::jsonb)",
                row.table
            );
            statements.insert(row.table.clone(), client.prepare(&insert).await?);
        }
    }
    let (begun, mut written) = (Instant::now(), 0_u64);
    while begun.elapsed() < time {
        let order = &orders[usize::try_from(written).unwrap_or_default() % orders.len()];
        client.batch_execute("BEGIN").await?;
        for (number, row) in order.iter().enumerate() {
            let mut values = row.values.clone();
            values.insert(row.order_column.clone(), json!(format!("B{name}-{written}")));
            if let Some(id) = &row.id_column {
                values.insert(id.clone(), json!(format!("B{name}-{written}-{number}")));
            }
            client.execute(&statements[&row.table], &[&Value::Object(values).to_string()]).await?;
        }
        client.batch_execute("COMMIT").await?;
        written += 1;
    }
    Ok(written)
}
