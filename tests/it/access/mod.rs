//! Signing in, tokens and users.

mod key_folder;
mod sign_in;
mod tokens;
mod users;
