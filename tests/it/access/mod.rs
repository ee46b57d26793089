//! Signing in, tokens and users.

mod audit_trail;
mod changes;
mod columns;
mod key_folder;
mod login_attacks;
mod scopes;
mod sign_in;
mod tokens;
mod users;
mod views;
