//! The files of the console. Made by `build.mjs`; do not edit.

use crate::api::console::asset::Asset;

/// The page.
pub(super) const PAGE: &str = include_str!("bundle/index.html");

/// Its entity tag.
pub(super) const PAGE_TAG: &str = "\"7f2dcf34db62\"";

/// The files that the page loads.
#[rustfmt::skip]
pub(super) static ASSETS: [Asset; 6] = [
    Asset::new("editor.worker-420777d23e37.js", "text/javascript; charset=utf-8", include_bytes!("bundle/editor.worker.js.br")),
    Asset::new("json.worker-42280ba8ca70.js", "text/javascript; charset=utf-8", include_bytes!("bundle/json.worker.js.br")),
    Asset::new("graphql.worker-6600ec02b007.js", "text/javascript; charset=utf-8", include_bytes!("bundle/graphql.worker.js.br")),
    Asset::new("app-089ca42096c3.css", "text/css; charset=utf-8", include_bytes!("bundle/app.css.br")),
    Asset::new("app-123b8ef4273d.js", "text/javascript; charset=utf-8", include_bytes!("bundle/app.js.br")),
    Asset::new("licences-09ef10807b9b.txt", "text/plain; charset=utf-8", include_bytes!("bundle/licences.txt.br")),
];
