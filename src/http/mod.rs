//! The door: hyper's listener, routing, negotiation, bodies and answers.
