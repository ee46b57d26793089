//! The scalars: from text, compared, to JSON.
