//! What the tests of this crate share.

pub mod apart;

/// Valid code objects with their names: what mutation starts from.
pub fn seeds() -> [(&'static str, &'static [u8]); 4] {
    [
        ("gfx906", include_bytes!("../data/saxpy.gfx906.hsaco")),
        ("gfx90a", include_bytes!("../data/saxpy.gfx90a.hsaco")),
        ("gfx1100", include_bytes!("../data/saxpy.gfx1100.hsaco")),
        ("gfx1201", include_bytes!("../data/saxpy.gfx1201.hsaco")),
    ]
}
