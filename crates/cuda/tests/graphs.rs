//! Graphs and stream capture.

#[allow(dead_code)] // Other tests use the rest of it.
mod by_name;
mod library;

mod graphs {
    mod capture;
    mod chains;
    mod counts;
    mod deep;
    mod edges;
    mod kit;
    mod load;
    mod memory;
    mod nodes;
    mod params;
    mod queries;
    mod random;
    mod together;
    mod updates;
    mod wrong;
}
