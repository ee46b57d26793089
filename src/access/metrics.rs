//! The metrics of logins.

use crate::telemetry::metrics::instrument::Counter;
use crate::telemetry::metrics::label::label;
use crate::telemetry::metrics::table::metrics;

metrics! {
    /// Logins, by their outcome.
    LOGINS: Counter, by (LoginResult,) = "orderql_logins_total";
    /// Delays that wrong passwords caused, of an account or an address.
    LOCKS: Counter, by () = "orderql_login_locks_total";
}

label! {
    /// What became of a login.
    LoginResult = "outcome" {
        Succeeded = "succeeded",
        /// The name or the password is wrong, or the account is disabled.
        Wrong = "wrong",
        /// Too many passwords were wrong before.
        Locked = "locked",
        /// Too many logins of the account or address wait.
        TooMany = "too_many",
        /// Too many logins wait in all.
        Overloaded = "overloaded",
        /// The password could not be verified.
        Failed = "failed",
        /// There was no name and password.
        NoCredentials = "no_credentials",
    }
}
