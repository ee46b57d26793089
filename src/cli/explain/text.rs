//! An explanation for people: the errors, the cost as a tree, and the statement with its parameters and branches.

use std::fmt::Write as _;

use clap::builder::styling::{AnsiColor, Style};

use crate::cli::explain::access;
use crate::cli::explain::explained::Explained;
use crate::compile::explanation::Explanation;
use crate::cost::breakdown::CostNode;
use crate::cost::limit_check::CheckedGate;
use crate::error::graphql_error::{GraphqlError, Location};
use crate::execute::plan_analysis::{BranchAnalysis, PlanAnalysis};
use crate::execute::statement_report::value;
use crate::plan::request_plan::Plan;
use crate::plan::step::Step;
use crate::query::bind::step_id::StepId;

/// Bytes from which the size of a response is worth a line.
const LARGE: u64 = 64 * 1024;

/// The styles of an explanation's parts.
#[derive(Debug)]
pub struct Styles {
    heading: Style,
    number: Style,
    faint: Style,
    bad: Style,
}

/// For files and pipes.
pub const PLAIN: Styles =
    Styles { heading: Style::new(), number: Style::new(), faint: Style::new(), bad: Style::new() };

/// For terminals.
pub(crate) const COLOURED: Styles = Styles {
    heading: Style::new().bold(),
    number: AnsiColor::Cyan.on_default(),
    faint: Style::new().dimmed(),
    bad: AnsiColor::Red.on_default().bold(),
};

/// The most characters of a query's line that an excerpt shows; queries may be written in one line.
const EXCERPT: usize = 100;

/// Renders everything that is known about a query.
pub fn render(explained: &Explained<'_>, styles: &Styles) -> String {
    let mut writer = TextWriter { out: String::new(), styles };
    // Writing to a string cannot fail.
    for error in explained.errors().into_iter().flatten() {
        writer.error(explained.query, error);
    }
    if let Ok(explanation) = &explained.result {
        writer.explanation(explanation, explained);
    }
    writer.out
}

struct TextWriter<'a> {
    out: String,
    styles: &'a Styles,
}

impl TextWriter<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn error(&mut self, query: &str, error: &GraphqlError) {
        let locations: Vec<_> = error.locations.iter().map(|at| format!("{}:{}", at.line, at.column)).collect();
        let at = if locations.is_empty() { String::new() } else { format!(" at {}", locations.join(", ")) };
        let code = styled(&self.styles.bad, error.code.as_str());
        self.line(&format!("{code}{at}: {}", printable(&error.message)));
        for location in &error.locations {
            self.excerpt(query, *location);
        }
        self.line("");
    }

    fn excerpt(&mut self, query: &str, location: Location) {
        let Some(excerpt) = excerpt(query, location) else { return };
        let number = location.line.to_string();
        let margin = styled(&self.styles.faint, &format!("{:1$} |", "", number.len()));
        let numbered = styled(&self.styles.faint, &format!("{number} |"));
        let caret = styled(&self.styles.bad, "^");
        self.line(&format!("{margin}\n{numbered} {}\n{margin} {}{caret}", excerpt.line, excerpt.margin));
    }

    fn explanation(&mut self, explanation: &Explanation, explained: &Explained<'_>) {
        let limits = &explained.limits;
        let name = explanation.operation_name.as_deref().unwrap_or("(without a name)");
        self.fact("Operation", name);
        self.fact("Depth", &format!("{}, of {} allowed", explanation.depth, limits.max_depth));
        let cost = explanation.estimate.cost();
        self.fact("Cost", &format!("{cost}, of {} allowed", limits.highest_cost()));
        let CheckedGate { measured, limit, .. } = explanation.response_size;
        if measured >= LARGE {
            self.fact("Response", &format!("{measured} bytes at most, of {limit} allowed"));
        }
        let width = explanation.cost.iter().map(|node| node.total).max().unwrap_or(0).to_string().len();
        for node in &explanation.cost {
            self.cost(node, width, 0);
        }
        for step in 0..explanation.plan.steps().len() {
            self.branch(&explanation.plan, step, explained.analysis.as_ref());
        }
        if explanation.plan.needs_database() {
            self.statement(&explanation.plan, explained.analysis.as_ref());
        }
    }

    fn fact(&mut self, name: &str, fact: &str) {
        let name = styled(&self.styles.heading, name);
        self.line(&format!("{name} {fact}"));
    }

    fn cost(&mut self, node: &CostNode, width: usize, level: usize) {
        let total = styled(&self.styles.number, &format!("{:>width$}", node.total));
        let indent = "  ".repeat(level);
        let alias = if node.key == node.field { String::new() } else { format!("{}: ", node.key) };
        let sum = sum(node).map(|sum| styled(&self.styles.faint, &format!(" = {sum}"))).unwrap_or_default();
        self.line(&format!("  {total}  {indent}{alias}{}{sum}", node.field));
        for part in &node.parts {
            self.cost(part, width, level + 1);
        }
    }

    fn branch(&mut self, plan: &Plan, step: StepId, analysis: Option<&PlanAnalysis>) {
        let heading = styled(&self.styles.heading, &format!("Branch {step}"));
        let Step { name, parent, .. } = &plan.steps()[step];
        let parent = match parent {
            None => String::new(),
            Some(parent) => format!(", for every row of branch {parent}"),
        };
        self.line(&format!("\n{heading} {name}{parent}"));
        for line in access::lines(plan, step) {
            self.line(&format!("    {}", styled(&self.styles.faint, &line)));
        }
        if let Some(Some(branch)) = analysis.and_then(|analysis| analysis.branches.get(step)) {
            let BranchAnalysis { milliseconds, rows, buffers_hit, buffers_read } = branch;
            let buffers = format!("{buffers_hit} blocks of memory and {buffers_read} others");
            self.line(&format!("    Took {milliseconds} ms for {rows} rows, {buffers}"));
        }
    }

    fn statement(&mut self, plan: &Plan, analysis: Option<&PlanAnalysis>) {
        let heading = styled(&self.styles.heading, "Statement");
        let took = analysis.map_or_else(String::new, |PlanAnalysis { planning, execution, .. }| {
            format!(" took {execution} ms, and {planning} ms to plan")
        });
        self.line(&format!("\n{heading}{took}"));
        for line in plan.sql().lines() {
            self.line(&format!("    {line}"));
        }
        for (number, parameter) in (1..).zip(plan.parameters()) {
            let placeholder = styled(&self.styles.number, &format!("${number}"));
            self.line(&format!("    {placeholder} = {}", value(parameter)));
        }
    }
}

/// The sum that makes a line's total; `None` for a field without parts.
fn sum(node: &CostNode) -> Option<String> {
    let total = |is_once: bool| {
        let parts = node.parts.iter().filter(|part| part.is_once == is_once);
        parts.fold(0_u64, |sum, part| sum.saturating_add(part.total))
    };
    let (parts, once) = (total(false), total(true));
    if node.step.is_none() && node.parts.is_empty() {
        return None;
    }
    let mut sum = String::new();
    // Writing to a string cannot fail.
    let _ = match (node.times, parts) {
        (1, parts) => write!(sum, "{} + {parts}", node.own),
        (times, parts) => write!(sum, "{times} × ({} + {parts})", node.own),
    };
    if once > 0 {
        let _ = write!(sum, " + {once} for a count");
    }
    let _ = match node.unindexed_terms {
        0 if node.penalty > 0 => write!(sum, " + {} to read the list", node.penalty),
        0 => Ok(()),
        1 => write!(sum, " + {} for a search term that is not selective", node.penalty),
        terms => write!(sum, " + {} for {terms} search terms that are not selective", node.penalty),
    };
    Some(sum)
}

fn styled(style: &Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// A line of the query, and the white space before the caret below it.
struct Excerpt {
    line: String,
    margin: String,
}

fn excerpt(query: &str, location: Location) -> Option<Excerpt> {
    let number = usize::try_from(location.line).ok()?.checked_sub(1)?;
    let line = lines(query).nth(number)?;
    let column = usize::try_from(location.column).ok()?.checked_sub(1)?;
    // A long line is shown from some characters before the location.
    let start = if column < EXCERPT * 3 / 4 { 0 } else { column - EXCERPT / 2 };
    let shown: String = line.chars().skip(start).take(EXCERPT).collect();
    let before = line.chars().skip(start).take(column.checked_sub(start)?);
    // Keeps tabs, so that the caret is below its character.
    let margin = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    Some(Excerpt { line: printable(&shown), margin })
}

/// The lines of a document. As in GraphQL's grammar, `\n`, `\r\n` or `\r` end one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// The text without control characters, which a terminal would obey.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::compile::explanation;
    use crate::limits::Limits;
    use crate::query::Request;

    pub(crate) fn explained(query: &str) -> Explained<'_> {
        let request = Request { query: query.to_owned(), ..Request::default() };
        let limits = Limits::default();
        Explained {
            query,
            limits,
            result: explanation::explain(&Catalog::built_in().unwrap(), &request, &limits),
            analysis: None,
        }
    }

    fn plain(query: &str) -> String {
        render(&explained(query), &PLAIN)
    }

    #[test]
    fn renders_the_cost_tree_and_every_statement() {
        insta::assert_snapshot!(plain(
            r#"query Held {
  orders(first: 10, query: "statusId:ORDER_HELD,ORDER_APPROVED orderDate:>=2026-05-01", reverse: true) {
    edges { node { id: orderId orderItemCount billToCustomer { firstName } orderItems(last: 5) { edges { node { quantity } } } } }
    pageInfo { hasNextPage }
  }
}"#
        ));
    }

    #[test]
    fn says_how_many_pages_to_expect() {
        let line = |query: &str| {
            let text = plain(query);
            let mut lines = text.lines().map(str::trim);
            lines.find(|line| line.starts_with("Fills") || line.starts_with("May")).unwrap_or_default().to_owned()
        };
        assert_eq!(
            line("{ orders(first: 10, query: \"statusId:A\") { edges { cursor } } }"),
            "Fills its pages: 1 page for 10 rows"
        );
        let query = "{ orders(first: 10, sortKey: GRAND_TOTAL, query: \"orderTypeId:A\") { edges { cursor } } }";
        let expected = "May come short: orderTypeId is checked row by row; 1 page for 10 rows if 1 of 375 rows of the window \
                        matches, N / 375 pages if 1 of N does";
        assert_eq!(line(query), expected);
    }

    #[test]
    fn explains_a_query_that_costs_too_much() {
        let query =
            "{ orders(first: 100) { edges { node { orderItems(first: 100) { edges { node { orderId } } } } } } }";
        insta::assert_snapshot!(plain(query));
    }

    #[test]
    fn errors_have_an_excerpt_of_the_query() {
        insta::assert_snapshot!(plain(
            "{\n\torder(orderId: \"1\") {\n\t\torderItems { pageInfo { endCursor } }\n\t\tshipGroups(first: 101) { pageInfo { endCursor } }\n\t}\n}"
        ));
    }

    #[test]
    fn an_excerpt_is_short_and_has_no_control_characters() {
        let long = format!("{{{}\u{1b}[31m orders {{ edges }} }}", " ".repeat(300));
        let text = plain(&long);
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");
    }

    #[test]
    fn colours_do_not_change_the_text() {
        let explained = explained("{ orders(first: 1) { edges { node { orderId } } } }");
        let coloured = render(&explained, &COLOURED);
        assert!(coloured.contains("\u{1b}[1mBranch 0\u{1b}[0m orders"), "{coloured:?}");
        let mut bare = String::new();
        let mut in_escape = false;
        for c in coloured.chars() {
            match (in_escape, c) {
                (false, '\u{1b}') => in_escape = true,
                (false, c) => bare.push(c),
                (true, c) => in_escape = c != 'm',
            }
        }
        assert_eq!(bare, render(&explained, &PLAIN));
    }
}
