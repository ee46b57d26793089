//! Random searches of a collection root, as search strings and as SQL.

use orderql::catalog::search_key::{SearchKey, SemiJoin};
use orderql::search::Comparator;
use orderql::value::ScalarType;
use tokio_postgres::Client;

use crate::query::bounded_search::root_rows::{RootRows, order_by};
use crate::support::random::Random;

/// A search in an order.
pub struct RandomSearch<'a> {
    pub root: &'a RootRows<'a>,
    pub sort_key: usize,
    pub reverse: bool,
    pub terms: Vec<RandomTerm>,
}

/// A term of a search.
pub struct RandomTerm {
    pub key: usize,
    comparator: Comparator,
    pub values: Vec<String>,
}

impl<'a> RandomSearch<'a> {
    /// A search with up to three terms. Most values are those of one row, so that several terms often match something.
    pub fn new(random: &mut Random, root: &'a RootRows<'a>) -> Self {
        let row = random.below(root.rows.len());
        let count = *random.pick(&[0, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        let terms = (0..count).map(|_| RandomTerm::new(random, root, row)).collect();
        let sort_key = random.below(root.connection.sort_keys.len());
        Self { root, sort_key, reverse: random.chance(50), terms }
    }

    fn key(&self, term: usize) -> &'a SearchKey {
        &self.root.connection.search_keys[self.terms[term].key]
    }

    /// The search string.
    pub fn text(&self) -> String {
        let term = |term: &RandomTerm| {
            let values: Vec<_> = term.values.iter().map(|value| format!("'{value}'")).collect();
            let name = &self.root.connection.search_keys[term.key].name;
            format!("{name}:{}{}", sign(term.comparator), values.join(","))
        };
        self.terms.iter().map(term).collect::<Vec<_>>().join(" ")
    }

    /// The positions of all rows that match, in order.
    pub async fn matches(&self, client: &Client) -> Vec<usize> {
        let id = self.root.id_sql();
        let mut conditions = vec!["TRUE".to_owned()];
        conditions.extend((0..self.terms.len()).map(|term| self.condition(term)));
        let order = order_by(&self.root.connection.sort_keys[self.sort_key], self.reverse);
        let sql = format!(
            "SELECT string_agg({id}, ',' ORDER BY {order}) FROM {} AS t WHERE {}",
            self.root.connection.relation,
            conditions.join(" AND ")
        );
        let ids: Option<String> =
            client.query_one(&sql, &[]).await.unwrap_or_else(|error| panic!("{error:?}: {sql}")).get(0);
        let ids = ids.unwrap_or_default();
        let ids = ids.split(',').filter(|id| !id.is_empty());
        let positions: Vec<_> = ids.map(|id| self.root.position(self.sort_key, self.reverse, id)).collect();
        assert!(positions.is_sorted(), "{sql}");
        positions
    }

    /// The number of rows that a look-up with these terms reads. For a key in another relation, each row of that one counts,
    /// also if no row of the root joins it.
    pub async fn found_by_lookup(&self, client: &Client, terms: &[usize]) -> u64 {
        let relation = &self.root.connection.relation;
        let (from, alias) = match &self.key(terms[0]).semi_join {
            None => (format!("{relation} AS t"), "t"),
            Some(join) => (format!("{} AS x LEFT JOIN {relation} AS t ON {}", join.relation, joined(join)), "x"),
        };
        let conditions: Vec<_> = terms.iter().map(|term| self.comparison(*term, alias)).collect();
        let sql = format!("SELECT count(*) FROM {from} WHERE {}", conditions.join(" AND "));
        let count: i64 = client.query_one(&sql, &[]).await.unwrap().get(0);
        u64::try_from(count).unwrap()
    }

    fn condition(&self, term: usize) -> String {
        let Some(join) = &self.key(term).semi_join else { return self.comparison(term, "t") };
        format!("EXISTS (SELECT FROM {} AS x WHERE {} AND {})", join.relation, joined(join), self.comparison(term, "x"))
    }

    fn comparison(&self, index: usize, alias: &str) -> String {
        let (term, column) = (&self.terms[index], &self.key(index).column);
        let literal = |value: &String| match column.scalar {
            ScalarType::DateTime => format!("timestamptz '{value}'"),
            _ => format!("'{value}'"),
        };
        let values: Vec<_> = term.values.iter().map(literal).collect();
        let comparison = match term.comparator {
            Comparator::Equals | Comparator::In | Comparator::Matches => format!("IN ({})", values.join(", ")),
            comparator => format!("{} {}", sign(comparator), values[0]),
        };
        // Y is true.
        let cast = if column.scalar == ScalarType::Boolean { "::text::boolean" } else { "" };
        format!("{alias}.{}{cast} {comparison}", column.name)
    }
}

impl RandomTerm {
    /// A term with the value of a row, or with another one.
    fn new(random: &mut Random, root: &RootRows<'_>, row: usize) -> Self {
        let key = random.below(root.connection.search_keys.len());
        let comparator = *random.pick(&root.connection.search_keys[key].comparators);
        let mut values = vec![value(random, root, key, row)];
        if comparator == Comparator::In {
            for _ in 0..*random.pick(&[1, 1, 2, 4, 19]) {
                let other = random.below(root.rows.len());
                values.push(value(random, root, key, other));
            }
        }
        Self { key, comparator, values }
    }
}

fn value(random: &mut Random, root: &RootRows<'_>, key: usize, row: usize) -> String {
    if random.chance(65)
        && let Some(own) = &root.rows[row][key]
    {
        return own.clone();
    }
    if random.chance(15) || root.values[key].is_empty() {
        let values = match root.connection.search_keys[key].column.scalar {
            ScalarType::DateTime => ["1990-01-01", "2100-01-01"],
            ScalarType::Decimal => ["-99.5", "100000"],
            ScalarType::Boolean => ["true", "false"],
            _ => ["0", "NOPE"],
        };
        return (*random.pick(&values)).to_owned();
    }
    random.pick(&root.values[key]).clone()
}

/// The condition of a semi-join.
fn joined(join: &SemiJoin) -> String {
    join.by.iter().map(|column| format!("x.{column} = t.{column}")).collect::<Vec<_>>().join(" AND ")
}

fn sign(comparator: Comparator) -> &'static str {
    match comparator {
        Comparator::Equals | Comparator::In | Comparator::Matches => "",
        Comparator::Greater => ">",
        Comparator::GreaterOrEqual => ">=",
        Comparator::Less => "<",
        Comparator::LessOrEqual => "<=",
    }
}
