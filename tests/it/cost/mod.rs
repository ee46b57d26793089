//! Costs, suggestions, limits and debits.

mod charging;
mod prices;
mod profiles;
mod suggestions;
