//! Flags, environment and file, made into each room's own small options.
