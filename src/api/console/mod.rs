//! The console: a page for browsers that prices, explains and runs queries while they are written.
//!
//! - `web`: its sources, TypeScript and styles. `build.mjs` makes the `bundle` of them, for which it needs Node
//! - `bundle`: what browsers get, committed compressed, so that building the program needs nothing but Rust
//! - `assets`: the list of its files, made with it; without the feature `console` there are none
//! - `asset`: a file in the codings that clients accept
//! - `files`: the responses with the page and its files

pub(crate) mod asset;
#[cfg(feature = "console")]
mod assets;
pub(crate) mod files;

use crate::api::console::asset::Asset;

/// The page and its entity tag.
pub(crate) struct ConsolePage {
    pub(crate) text: &'static str,
    pub(crate) tag: &'static str,
}

/// The page, if the program was built with it.
#[cfg(feature = "console")]
pub(crate) const PAGE: Option<ConsolePage> = Some(ConsolePage { text: assets::PAGE, tag: assets::PAGE_TAG });
#[cfg(not(feature = "console"))]
pub(crate) const PAGE: Option<ConsolePage> = None;

/// The files that the page loads.
#[cfg(feature = "console")]
static ASSETS: &[Asset] = &assets::ASSETS;
#[cfg(not(feature = "console"))]
static ASSETS: &[Asset] = &[];

/// The file with this name.
pub(crate) fn asset(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

#[cfg(all(test, feature = "console"))]
mod tests {
    use sha2::Digest as _;

    use super::*;

    #[test]
    fn the_page_refers_to_files_that_are_there() {
        let page = PAGE.unwrap();
        let names: Vec<_> = page.text.split("\"graphql/console/").skip(1).map(|rest| rest.split('"').next()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names.iter().all(|name| asset(name.unwrap()).is_some()), "{names:?}");
        assert!(page.tag.starts_with('"') && page.tag.ends_with('"'));
    }

    #[test]
    fn all_files_together_are_no_larger_than_promised() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.brotli.len()).sum();
        assert!(bytes < 2_000_000, "{bytes}");
    }

    #[test]
    fn every_file_has_the_hash_of_its_content_in_its_name() {
        for asset in ASSETS {
            let plain = asset.plain().unwrap();
            let hash = sha2::Sha256::digest(&plain);
            let first = u64::from_be_bytes(hash[..8].try_into().unwrap());
            let prefix = format!("-{}.", &format!("{first:016x}")[..12]);
            assert!(asset.name.contains(&prefix), "{}", asset.name);
        }
    }
}
