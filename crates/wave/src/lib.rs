//! Wave IR.
