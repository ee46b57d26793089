//! OFBiz's foreign keys and indexes on the tables that are made: `declared/references.txt` describes the format.

/// An index of OFBiz, and the foreign key on its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) table: &'static str,
    /// The name of both.
    name: &'static str,
    /// Separated by commas.
    pub(super) columns: &'static str,
    is_unique: bool,
    /// The table that is referred to, and its columns.
    pub(super) target: Option<(&'static str, &'static str)>,
}

impl Reference {
    /// The lines of a file.
    pub(super) fn read(text: &'static str) -> Vec<Self> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.filter_map(Self::read_line).collect()
    }

    fn read_line(line: &'static str) -> Option<Self> {
        let mut words = line.split(' ');
        let (table, name, columns) = (words.next()?, words.next()?, words.next()?);
        let (is_unique, target) = match words.next() {
            Some("->") => (false, Some((words.next()?, words.next()?))),
            other => (other == Some("unique"), None),
        };
        Some(Self { table, name, columns, is_unique, target })
    }

    /// The statement that makes the index.
    pub(super) fn index(&self) -> String {
        let unique = if self.is_unique { "UNIQUE " } else { "" };
        format!("CREATE {unique}INDEX {} ON public.{} ({})", self.name, self.table, self.columns.replace(',', ", "))
    }

    /// The statement that makes the foreign key.
    pub(super) fn key(&self) -> Option<String> {
        let (target, columns) = self.target?;
        let Self { table, name, .. } = self;
        let [own, columns] = [self.columns, columns].map(|columns| columns.replace(',', ", "));
        Some(format!(
            "ALTER TABLE public.{table} ADD CONSTRAINT {name} FOREIGN KEY ({own}) REFERENCES public.{target} ({columns})"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_keys_and_indexes() {
        let read = Reference::read("# Comment.\na n b,c -> d e,f\na i b unique\n");
        assert_eq!(read[0].index(), "CREATE INDEX n ON public.a (b, c)");
        assert_eq!(
            read[0].key().as_deref(),
            Some("ALTER TABLE public.a ADD CONSTRAINT n FOREIGN KEY (b, c) REFERENCES public.d (e, f)")
        );
        assert_eq!((read[1].index(), read[1].key()), ("CREATE UNIQUE INDEX i ON public.a (b)".to_owned(), None));
    }
}
