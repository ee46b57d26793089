//! Who is calling, and what they may do: passwords, tokens, grants, profiles.
