//! A closed set of events, which logs read.
