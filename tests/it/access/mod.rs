//! Signing in, tokens and users.

mod sign_in;
mod tokens;
mod users;
