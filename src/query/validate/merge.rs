//! A valid document to an operation.
