//! Groups of calls as rows: a function's name, its arguments, its answer.

mod batches;
mod by_name;
mod checkpoints;
mod closed;
mod decompress;
mod external;
mod green;
mod library;
mod narrow;
mod process;
mod sparse;
mod video;
