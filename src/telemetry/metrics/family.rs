//! An instrument for each combination of labels.

use std::marker::PhantomData;

use crate::telemetry::metrics::instrument::Instrument;
use crate::telemetry::metrics::label::Labels;
use crate::telemetry::metrics::reading::{Description, Metric, Series};

/// A metric: `N` instruments, one for each combination of labels.
#[derive(Debug)]
pub(crate) struct Family<I, L, const N: usize> {
    description: Description,
    instruments: [I; N],
    labels: PhantomData<L>,
}

impl<I: Instrument, L: Labels, const N: usize> Family<I, L, N> {
    /// A metric without values.
    pub(crate) const fn new(name: &'static str, help: &'static str) -> Self {
        assert!(N == L::SERIES);
        Self {
            description: Description { name, help, kind: I::KIND, labels: L::NAMES },
            instruments: [const { I::NEW }; N],
            labels: PhantomData,
        }
    }

    /// The instrument of these labels.
    pub(crate) fn of(&self, labels: L) -> &I {
        &self.instruments[labels.index()]
    }
}

impl<I: Instrument, L: Labels, const N: usize> Metric for Family<I, L, N> {
    fn description(&self) -> Description {
        self.description
    }

    fn series(&self) -> Vec<Series> {
        let values = self.instruments.iter().map(Instrument::read).enumerate();
        values.filter_map(|(index, value)| Some(Series::new(L::texts(index), value?))).collect()
    }
}
