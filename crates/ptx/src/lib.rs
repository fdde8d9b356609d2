//! PTX text.
