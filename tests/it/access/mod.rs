//! Signing in, tokens and users.

mod audit_trail;
mod key_folder;
mod login_attacks;
mod sign_in;
mod tokens;
mod users;
