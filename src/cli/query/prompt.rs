//! A prompt: reads queries from a terminal, one after the other. A query may have several lines, and ends with its last bracket.

use std::io::{self, BufRead, Write};

use crate::cli::query::history::History;

/// The text that is shown first.
const GREETING: &str = "Type a query; it ends with its last bracket. help shows more, quit ends.\n";

const HELP: &str = "\
{ … } or query … { … }  asks; a query may have several lines, and an empty one ends a broken one
history                 lists the last queries
!N, !!                  asks the query with this number, or the last one, again
quit, exit, \\q, Ctrl-D  ends
";

/// The most queries that are listed.
const LISTED: usize = 20;

/// Reads queries until the input ends, and passes each to `ask`, which returns what it offers in place of a query with errors.
pub(super) fn run(
    mut input: impl BufRead,
    mut output: impl Write,
    history: &mut History,
    mut ask: impl FnMut(&str) -> Option<String>,
) -> io::Result<()> {
    output.write_all(GREETING.as_bytes())?;
    let mut query = String::new();
    loop {
        write!(output, "{}", if query.is_empty() { "> " } else { "… " })?;
        output.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return writeln!(output);
        }
        let line = line.trim_end();
        if query.is_empty() {
            match line.trim() {
                "" => continue,
                "quit" | "exit" | "\\q" => return Ok(()),
                "help" | "?" => write!(output, "{HELP}")?,
                "history" => list(&mut output, history)?,
                command if command.starts_with('!') => match history.get(&command[1..]) {
                    Some(known) => {
                        let known = known.to_owned();
                        writeln!(output, "{known}")?;
                        history.add(&known);
                        offered(&mut output, history, ask(&known))?;
                    }
                    None => writeln!(output, "There is no such query; history lists them.")?,
                },
                _ => line.clone_into(&mut query),
            }
        } else if !line.is_empty() {
            query.push('\n');
            query.push_str(line);
        }
        if !query.is_empty() && (line.is_empty() || is_complete(&query)) {
            history.add(&query);
            offered(&mut output, history, ask(&query))?;
            query.clear();
        }
    }
}

/// Puts the query that is offered in place of the last one into the history, so that `!!` runs it.
fn offered(output: &mut impl Write, history: &mut History, query: Option<String>) -> io::Result<()> {
    let Some(query) = query else { return Ok(()) };
    history.add(&query);
    writeln!(output, "!! runs the corrected query:\n{query}")
}

fn list(output: &mut impl Write, history: &History) -> io::Result<()> {
    for (number, query) in history.last(LISTED) {
        let line = query.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(output, "{number:>4}  {line}")?;
    }
    Ok(())
}

/// Whether a text has brackets, and all of them are closed. Those in strings and comments do not count.
fn is_complete(text: &str) -> bool {
    let (mut rest, mut depth, mut has_brackets) = (text, 0_i64, false);
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' => match string_length(rest) {
                Some(length) => length,
                None => return false,
            },
            _ => character.len_utf8(),
        };
        match character {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        has_brackets |= character == '{';
        rest = &rest[length..];
    }
    has_brackets && depth <= 0
}

/// The length of the string that a text begins with; `None` if a block string has no end. Other strings end with their line.
fn string_length(text: &str) -> Option<usize> {
    if let Some(block) = text.strip_prefix("\"\"\"") {
        let escaped = block.replace("\\\"\"\"", "xxxx");
        return escaped.find("\"\"\"").map(|end| end + 6);
    }
    let mut is_escaped = false;
    for (index, character) in text.char_indices().skip(1) {
        match character {
            '\n' => return Some(index),
            '"' if !is_escaped => return Some(index + 1),
            _ => is_escaped = character == '\\' && !is_escaped,
        }
    }
    Some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The queries that are asked, and the output.
    fn typed(input: &str, history: &mut History) -> (Vec<String>, String) {
        let (mut asked, mut output) = (Vec::new(), Vec::new());
        let ask = |query: &str| {
            asked.push(query.to_owned());
            (query == "{ e }").then(|| "{ f }".to_owned())
        };
        run(input.as_bytes(), &mut output, history, ask).unwrap();
        (asked, String::from_utf8(output).unwrap())
    }

    #[test]
    fn a_query_ends_with_its_last_bracket() {
        for text in [
            "{a}",
            "query Q($a: [ID!] = [\"}\"]) { a }",
            "{ a(b: \"}\\\"}\") # }\n}",
            "{ a(b: \"\"\"}\\\"\"\"}\"\"\") }",
            "}{",
        ] {
            assert!(is_complete(text), "{text}");
        }
        for text in ["", "query Q", "{ a", "{ a(b: \"}\")", "{ a # }", "{ a(b: \"\"\"} ) }", "# {}"] {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn asks_queries_of_several_lines_and_those_of_the_history_again() {
        let mut history = History::empty();
        let input = "\n{\n  a(b: \"}\")\n}\n{ d }\nhistory\n!1\n!!\n!9\nhelp\n{ broken\n\nquit\n{ e }\n";
        let (asked, shown) = typed(input, &mut history);
        let first = "{\n  a(b: \"}\")\n}";
        assert_eq!(asked, [first, "{ d }", first, first, "{ broken"]);
        assert!(shown.contains("> > … … > > "), "{shown}");
        assert!(shown.contains("   1  { a(b: \"}\") }\n   2  { d }\n> "), "{shown}");
        assert!(shown.contains("There is no such query") && shown.contains("Ctrl-D"), "{shown}");
        let (asked, shown) = typed("{ e }\n!!\n", &mut history);
        assert!(asked == ["{ e }", "{ f }"] && shown.contains("!! runs the corrected query:\n{ f }"), "{shown}");
        history.add("{ broken");
        // The input may end in place of `quit`.
        assert_eq!(typed("!!", &mut history).0, ["{ broken"]);
        assert_eq!(typed("\\q\n{ e }\n", &mut history).0, [""; 0]);
    }
}
