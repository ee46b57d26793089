//! Declares metrics: a row for each.

/// Declares a static for each metric, and `RECORDED`, the list of them. A row is
/// `NAME: Instrument by (Labels) = "name";`, with its help as doc comment.
macro_rules! metrics {
    ($(#[doc = $help:literal] $name:ident: $instrument:ty, by $labels:ty = $text:literal;)+) => {
        $(
            #[doc = $help]
            pub(crate) static $name: $crate::telemetry::metrics::family::Family<
                $instrument,
                $labels,
                { <$labels as $crate::telemetry::metrics::label::Labels>::SERIES },
            > = $crate::telemetry::metrics::family::Family::new($text, $help);
        )+

        /// The metrics that are recorded here.
        pub(crate) static RECORDED: &[&dyn $crate::telemetry::metrics::reading::Metric] = &[$(&$name),+];
    };
}

pub(crate) use metrics;
