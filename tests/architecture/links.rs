//! Links in the documentation lead to files that exist, and to headings that they have.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::sources::package;

/// The pages, with paths from the package, and their texts without blocks of code.
fn pages() -> HashMap<PathBuf, String> {
    let mut pages = HashMap::from([(PathBuf::from("README.md"), text(Path::new("README.md")))]);
    for folder in ["docs", "docs/develop"] {
        for entry in fs::read_dir(package().join(folder)).unwrap() {
            let path = Path::new(folder).join(entry.unwrap().file_name());
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = text(&path);
                pages.insert(path, text);
            }
        }
    }
    pages
}

fn text(page: &Path) -> String {
    let text = fs::read_to_string(package().join(page)).unwrap();
    text.split("```").step_by(2).collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> HashSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// The targets of a page's links, but those of other sites.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0));
    links.filter(|link| !link.contains(':'))
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut normal, part| {
        if part == Component::ParentDir {
            normal.pop();
        } else {
            normal.push(part);
        }
        normal
    })
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let pages = pages();
    let leads_somewhere = |page: &Path, link: &str| {
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if path.is_empty() { page.to_owned() } else { normal(&page.parent().unwrap().join(path)) };
        let has_anchor = || pages.get(&target).is_some_and(|text| anchors(text).contains(anchor));
        package().join(&target).exists() && (anchor.is_empty() || has_anchor())
    };
    let mut wrong: Vec<_> = pages
        .iter()
        .flat_map(|(page, text)| links(text).map(move |link| (page, link)))
        .filter(|(page, link)| !leads_somewhere(page, link))
        .collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
