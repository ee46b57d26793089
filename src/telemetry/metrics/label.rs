//! Labels: closed sets of values, so that the number of a metric's series is known when the program is built.

pub(crate) trait Label: Copy + Send + Sync + 'static {
    /// The label's name.
    const NAME: &'static str;
    /// How many values it has.
    const COUNT: usize;

    /// The index of this value.
    fn index(self) -> usize;

    /// The text of the value with this index. Where it is empty, the series has no such label.
    fn text(index: usize) -> &'static str;
}

/// The labels of a metric: none, one or several.
pub(crate) trait Labels: Copy + Send + Sync + 'static {
    /// The labels' names.
    const NAMES: &'static [&'static str];
    /// How many combinations of values there are.
    const SERIES: usize;

    /// The index of this combination.
    fn index(self) -> usize;

    /// The texts of the combination with this index.
    fn texts(index: usize) -> Vec<&'static str>;
}

impl Labels for () {
    const NAMES: &'static [&'static str] = &[];
    const SERIES: usize = 1;

    fn index(self) -> usize {
        0
    }

    fn texts(_: usize) -> Vec<&'static str> {
        Vec::new()
    }
}

impl<A: Label> Labels for (A,) {
    const NAMES: &'static [&'static str] = &[A::NAME];
    const SERIES: usize = A::COUNT;

    fn index(self) -> usize {
        self.0.index()
    }

    fn texts(index: usize) -> Vec<&'static str> {
        vec![A::text(index)]
    }
}

impl<A: Label, B: Label> Labels for (A, B) {
    const NAMES: &'static [&'static str] = &[A::NAME, B::NAME];
    const SERIES: usize = A::COUNT * B::COUNT;

    fn index(self) -> usize {
        self.0.index() * B::COUNT + self.1.index()
    }

    fn texts(index: usize) -> Vec<&'static str> {
        vec![A::text(index / B::COUNT), B::text(index % B::COUNT)]
    }
}

impl<A: Label, B: Label, C: Label> Labels for (A, B, C) {
    const NAMES: &'static [&'static str] = &[A::NAME, B::NAME, C::NAME];
    const SERIES: usize = A::COUNT * B::COUNT * C::COUNT;

    fn index(self) -> usize {
        (self.0.index() * B::COUNT + self.1.index()) * C::COUNT + self.2.index()
    }

    fn texts(index: usize) -> Vec<&'static str> {
        let (rest, last) = (index / C::COUNT, index % C::COUNT);
        vec![A::text(rest / B::COUNT), B::text(rest % B::COUNT), C::text(last)]
    }
}

/// Declares an enum that is a label: `Name = "label_name" { Variant = "value", … }`.
macro_rules! label {
    (
        $(#[$about:meta])*
        $name:ident = $label:literal { $($(#[$variant_about:meta])* $variant:ident = $text:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$variant_about])* $variant,)+
        }

        impl $crate::telemetry::metrics::label::Label for $name {
            const NAME: &'static str = $label;
            const COUNT: usize = [$($text),+].len();

            fn index(self) -> usize {
                self as usize
            }

            fn text(index: usize) -> &'static str {
                [$($text),+][index]
            }
        }
    };
}

pub(crate) use label;
