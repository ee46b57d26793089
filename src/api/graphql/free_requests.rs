//! Paces what is not debited: reports of prices and plans, queries that cost nothing, such as introspection, and large texts that do
//! not compile.
//!
//! Each takes a core for as long as compiling its text, or writing the schema. So a caller gets them at a limited rate.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{self, Instant};

use crate::access::grants::Principal;
use crate::throttle::pace::Pace;

/// Between two of one caller, and more for each byte of the second one's text: a thousandth of a second for a KiB.
const INTERVAL: Duration = Duration::from_millis(5);
const INTERVAL_PER_BYTE: Duration = Duration::from_micros(1);

/// A text that did not compile claims so many times as long as that took: a caller's take a quarter of a core at most.
const FAILED: u32 = 4;

/// Charges the caller for a text that did not compile, after so much time. Returns how long the response is held back.
pub(crate) fn charge_failure(pace: &Pace, caller: &Arc<str>, took: Duration) -> Duration {
    pace.charge(caller, Instant::now().into_std(), FAILED * took)
}

/// Waits until the caller's next request with a text of so many bytes is due. Fails with the time until then if others of the same
/// caller are before it for too long.
pub(crate) async fn pace(pace: &Pace, caller: &Principal, bytes: usize) -> Result<(), Duration> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let now = Instant::now();
    let delay = pace.claim(&caller.user_id, now.into_std(), INTERVAL + INTERVAL_PER_BYTE * bytes)?;
    if !delay.is_zero() {
        time::sleep_until(now + delay).await;
    }
    Ok(())
}
