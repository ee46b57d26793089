//! Signing in, tokens, and what callers may do.

mod sign_in;
mod tokens;
