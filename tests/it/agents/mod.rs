//! `orderql mcp`: the program as an agent sees it, over standard input and over HTTP.

mod client;
mod correction;
mod http;
mod official_client;
mod scripted_agent;
mod strategy;
mod tools;
