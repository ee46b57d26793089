//! Paces work that is not debited: reports of prices and plans, free queries such as introspection, bytes of other queries beyond
//! their cost, and large texts that do not compile.
//!
//! Each takes a core for as long as compiling it and writing the response. So a caller gets them at a limited rate.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{self, Instant};

use crate::access::grants::Principal;
use crate::api::access_log::timeline::Stage;
use crate::api::errors::api_error::ApiError;
use crate::api::errors::query_error::QueryError;
use crate::api::graphql::request::query_request::QueryRequest;
use crate::compile::compiled::Compiled;
use crate::throttle::pace::Pace;

/// Between two of one caller, and more for each byte that the first one writes: a caller gets 20 MB a second, which may have to be
/// compressed.
const INTERVAL: Duration = Duration::from_millis(5);
const INTERVAL_PER_BYTE: Duration = Duration::from_nanos(50);

/// The longest time of a request that counts. The request may have waited for other requests.
const LONGEST: Duration = Duration::from_secs(1);

/// Bytes of a response for each credit that its query costs, and beside them. Queries that select what they pay for write less.
const PAID_PER_CREDIT: u64 = 1024;
const UNPAID: u64 = 16 * 1024;

/// The work for a free request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FreeWork {
    /// Bytes that it writes.
    pub(crate) bytes: u64,
    /// How long it has taken so far.
    pub(crate) time: Duration,
}

impl FreeWork {
    /// The bytes that a query writes without paying for them; `None` if it pays for all. A free query counts with the time of its
    /// compilation.
    fn unpaid(compiled: &Compiled, time: Duration) -> Option<Self> {
        let (bytes, cost) = (compiled.max_response_bytes, compiled.estimate.cost());
        if cost == 0 {
            return Some(Self { bytes, time });
        }
        let paid = cost.saturating_mul(PAID_PER_CREDIT).saturating_add(UNPAID);
        bytes.checked_sub(paid).filter(|unpaid| *unpaid > 0).map(|bytes| Self { bytes, time: Duration::ZERO })
    }

    /// How much longer than [`INTERVAL`] the caller's next one waits for it.
    fn delay(self) -> Duration {
        let bytes = u32::try_from(self.bytes).unwrap_or(u32::MAX);
        INTERVAL_PER_BYTE * bytes + self.time.min(LONGEST)
    }
}

/// A text that did not compile claims this multiple of the time that its check took: the texts of one caller take a quarter of a core at
/// most.
const FAILED: u32 = 4;

/// A caller's pace of texts that do not compile.
#[derive(Debug)]
pub(crate) struct FailurePace {
    pub(crate) pace: Arc<Pace>,
    pub(crate) caller: Arc<str>,
}

impl FailurePace {
    /// Fails with the time until the caller's next text may be compiled, if its texts before are too far ahead of the pace.
    pub(crate) fn check(&self) -> Result<(), Duration> {
        self.pace.check(&self.caller, Instant::now().into_std())
    }

    /// Charges the caller for a text that did not compile, by the time of its check. Returns how long the response is held back.
    pub(crate) fn charge(&self, took: Duration) -> Duration {
        self.pace.charge(&self.caller, Instant::now().into_std(), FAILED * took)
    }
}

/// Waits until the caller's next free request is due, which has this work. Fails with the time until then if others of the same caller are
/// before it for too long.
pub(crate) async fn pace(pace: &Pace, caller: &Principal, work: FreeWork) -> Result<(), Duration> {
    let now = Instant::now();
    let delay = pace.claim(&caller.user_id, now.into_std(), INTERVAL + work.delay())?;
    if !delay.is_zero() {
        time::sleep_until(now + delay).await;
    }
    Ok(())
}

/// Waits until a query is due that writes bytes without paying for them.
pub(crate) async fn pace_unpaid(
    QueryRequest { context, caller, .. }: &mut QueryRequest<'_>,
    compiled: &Compiled,
) -> Result<(), ApiError> {
    let compiling = context.entry.timeline.compile.map(Stage::time).unwrap_or_default();
    if let Some(work) = FreeWork::unpaid(compiled, compiling) {
        let paced = pace(&context.service.free_query_pace, caller, work).await;
        paced.map_err(|retry_after| QueryError::TooManyFreeQueries { retry_after })?;
    }
    Ok(())
}

/// Delays the caller's next free request by one that was not paced, as it was not known to be free, and by what it took.
pub(crate) fn charge_unpaced(pace: &Pace, caller: &Principal, work: FreeWork) {
    pace.charge(&caller.user_id, Instant::now().into_std(), INTERVAL + work.delay());
}

/// Delays the caller's next free request by what one took that was paced before that was known.
pub(crate) fn charge(pace: &Pace, caller: &Principal, work: FreeWork) {
    pace.charge(&caller.user_id, Instant::now().into_std(), work.delay());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::compile::compile;
    use crate::limits::Limits;
    use crate::query::Request;

    #[test]
    fn what_credits_pay_for_is_not_free() {
        let unpaid = |query: String| {
            let request = Request { query, ..Request::default() };
            let compiled = compile(&Catalog::built_in().unwrap(), &request, &Limits::default()).unwrap();
            FreeWork::unpaid(&compiled, Duration::from_secs(2)).map(|work| (compiled.estimate.cost(), work))
        };
        let (cost, schema) = unpaid("{ __schema { types { name description } } }".to_owned()).unwrap();
        assert!(cost == 0 && schema.bytes > 5000);
        let delay = schema.delay();
        assert!(delay > LONGEST && delay < 2 * LONGEST, "{delay:?}");
        let page =
            |leaves: &str| format!("{{ orders(first: 100) {{ edges {{ cursor node {{ orderId }} {leaves} }} }} }}");
        assert!(unpaid(page("")).is_none());
        let cursors: Vec<_> = (0..50).map(|alias| format!("c{alias}: cursor")).collect();
        let (cost, cursors) = unpaid(page(&cursors.join(" "))).unwrap();
        assert!(cost == 200 && cursors.bytes > 100_000, "{cursors:?}");
    }
}
