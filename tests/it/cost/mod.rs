//! Costs, suggestions, limits and debits.

mod charging;
mod prices;
mod profiles;
mod random_requests;
pub mod reported_costs;
mod response_sizes;
mod suggestions;
mod waiting;
