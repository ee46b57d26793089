//! The program's commands, a file each.
