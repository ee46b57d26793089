//! A query for the fields that were found, which runs as it is. Values that only the caller has are `?`.

use crate::outline::paths::Question;
use crate::outline::{Outline, OutlineField, TypeKind};

/// The most fields that are selected, and the most keys of groups.
const MAX_FIELDS: usize = 6;
const MAX_KEYS: usize = 2;

/// The page sizes: at the root, and one and two objects below. So the query costs less than a caller may spend.
const PAGE_SIZES: [u8; 3] = [10, 5, 2];

impl<'a> Question<'a> {
    /// A query for the best fields of an object at the end of a way.
    pub(super) fn example(&self, outline: &Outline, way: &[&'a OutlineField]) -> String {
        let fields = self.fields(way, MAX_FIELDS).into_iter();
        let names: Vec<_> = fields.map(|field| field.name.as_str()).collect();
        let path = self.path(outline, way);
        format!("{path} {}{}", names.join(" "), " }".repeat(path.matches('{').count()))
    }

    /// Totals in the groups that the words name. `None` if a root has none.
    pub(super) fn totals(&self, outline: &Outline, root: &OutlineField) -> Option<String> {
        let groups = outline
            .field(&root.ty.named, "groups")
            .filter(|_| outline.field(&root.ty.named, "groupCount").is_some())?;
        let of_group = outline.fields(&groups.ty.named);
        let TypeKind::Enum(keys) = &outline.get(&root.argument("groupBy")?.ty.named)?.kind else { return None };
        let keys: Vec<_> = keys.iter().filter(|key| self.has(key)).take(MAX_KEYS).collect();
        let is_key =
            |field: &OutlineField| keys.iter().any(|key| key.replace('_', "").eq_ignore_ascii_case(&field.name));
        let is_sum = |field: &&OutlineField| field.ty.named == "Decimal";
        let named = of_group.iter().any(|field| is_sum(&field) && self.has(&field.name));
        let sums = of_group.iter().filter(is_sum).filter(|field| !named || self.has(&field.name));
        // The currency of amounts is a key of their groups without being asked for.
        let sums: Vec<_> = sums.collect();
        let is_currency = |field: &&OutlineField| {
            let is_of = |sum: &&OutlineField| sum.description.contains(&format!("in `{}`, which is a key", field.name));
            !is_key(field) && sums.iter().any(is_of)
        };
        let currency = of_group.iter().filter(is_currency);
        let count = of_group.iter().filter(|field| field.name == "count");
        let selected = of_group.iter().filter(|field| is_key(field)).chain(currency).chain(count).chain(sums.clone());
        let selected: Vec<_> = selected.map(|field| field.name.as_str()).collect();
        let keys = if keys.is_empty() {
            String::new()
        } else {
            format!(", groupBy: [{}]", keys.iter().map(|key| key.as_str()).collect::<Vec<_>>().join(", "))
        };
        Some(format!("{{ {}(first: 10{keys}) {{ groups {{ {} }} complete }} }}", root.name, selected.join(" ")))
    }

    /// The beginning of a query, up to the fields of the last object.
    pub(super) fn path(&self, outline: &Outline, way: &[&OutlineField]) -> String {
        let steps = way.iter().zip(PAGE_SIZES).map(|(field, size)| {
            let inner = if outline.node_type(&field.ty.named).is_some() { " { edges { node { " } else { " { " };
            format!("{}{}{inner}", field.name, self.arguments(field, size))
        });
        format!("{{ {}", steps.collect::<String>().trim_end())
    }

    /// The arguments without which a field is an error: a page size, required arguments, and one of the arguments of a lookup.
    fn arguments(&self, field: &OutlineField, page_size: u8) -> String {
        let mut given = Vec::new();
        for argument in &field.arguments {
            match argument.name.as_str() {
                "first" => given.push(format!("first: {page_size}")),
                name if argument.ty.text.ends_with('!') => given.push(format!("{name}: \"?\"")),
                _ => {}
            }
        }
        let arguments = field.arguments.iter();
        let best =
            arguments.reduce(|one, other| if self.name(&other.name) > self.name(&one.name) { other } else { one });
        if let (true, Some(best)) = (given.is_empty(), best) {
            given.push(format!("{}: \"?\"", best.name));
        }
        if given.is_empty() { String::new() } else { format!("({})", given.join(", ")) }
    }
}
