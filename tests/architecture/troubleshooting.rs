//! The messages that `docs/troubleshooting.md` explains are those of the program.

use std::fs;

use crate::sources::{package, sources};

/// Shorter pieces of a message are in some file anyway.
const SHORTEST: usize = 12;

/// The messages in the first cells of the page's tables, in the pieces between what differs from case to case.
fn pieces(page: &str) -> impl Iterator<Item = &str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let messages = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter(|code| code.contains(' '));
    messages.flat_map(|message| message.split(['…', ';'])).map(str::trim).filter(|piece| piece.len() >= SHORTEST)
}

#[test]
fn messages_that_are_explained_are_in_the_sources() {
    // A text may go on in the next line, and has names of commands between backquotes.
    let join = |text: &str| text.split("\\\n").map(str::trim_start).collect::<String>().replace('`', "");
    let program: String = sources("src").iter().map(|(_, text)| join(text)).collect();
    let page = fs::read_to_string(package().join("docs/troubleshooting.md")).unwrap();
    let wrong: Vec<_> = pieces(&page).filter(|piece| !program.contains(piece)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(pieces(&page).count() > 20);
}
