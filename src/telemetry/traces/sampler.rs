//! Which requests are recorded, by OpenTelemetry's rules.

use crate::telemetry::trace_context::{TraceContext, TraceId};
use crate::telemetry::traces::span::random_id;

/// Decides which requests are recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sampler {
    /// Whether a client that has decided decides.
    is_parent_based: bool,
    /// The part of the others that is recorded, of 2⁶⁴.
    threshold: u128,
}

impl Sampler {
    /// The sampler of this name; `None` if there is no such.
    pub(super) fn parse(name: &str, argument: Option<&str>) -> Option<Self> {
        let (is_parent_based, kind) = match name.strip_prefix("parentbased_") {
            Some(kind) => (true, kind),
            None => (false, name),
        };
        let ratio = match kind {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => argument.map_or(Some(1.0), |ratio| ratio.parse().ok())?,
            _ => return None,
        };
        if !(0.0..=1.0).contains(&ratio) {
            return None;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the ratio is from 0 to 1")]
        let threshold = (ratio * 18_446_744_073_709_551_616.0) as u128;
        Some(Self { is_parent_based, threshold })
    }

    /// The trace of a request: its client's, or a new one.
    pub(super) fn begin(self, client: Option<TraceContext>) -> TraceContext {
        let context = client.unwrap_or_else(|| {
            let id = u128::from(random_id().get()) << 64 | u128::from(random_id().get());
            TraceContext { trace_id: TraceId(id), parent_id: None, is_sampled: false }
        });
        let is_sampled = match client {
            Some(client) if self.is_parent_based => client.is_sampled,
            _ => context.trace_id.0 & u128::from(u64::MAX) < self.threshold,
        };
        TraceContext { is_sampled, ..context }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(name: &str, argument: Option<&str>, client: Option<TraceContext>) -> usize {
        let sampler = Sampler::parse(name, argument).unwrap();
        (0..1000).filter(|_| sampler.begin(client).is_sampled).count()
    }

    #[test]
    fn the_client_decides_if_it_has_and_the_ratio_otherwise() {
        let client = TraceContext { trace_id: TraceId(1), parent_id: None, is_sampled: false };
        assert_eq!(sampled("parentbased_always_on", None, Some(client)), 0);
        assert_eq!(sampled("always_on", None, Some(client)), 1000);
        assert_eq!(sampled("parentbased_always_off", None, Some(TraceContext { is_sampled: true, ..client })), 1000);
        assert_eq!(sampled("parentbased_always_on", None, None), 1000);
        assert_eq!(sampled("always_off", None, None), 0);
        let half = sampled("parentbased_traceidratio", Some("0.5"), None);
        assert!((350..650).contains(&half), "{half}");
        for (name, argument) in [("sometimes", None), ("traceidratio", Some("2")), ("traceidratio", Some("half"))] {
            assert_eq!(Sampler::parse(name, argument), None, "{name}");
        }
    }
}
