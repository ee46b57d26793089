//! The credit bucket of each caller.
