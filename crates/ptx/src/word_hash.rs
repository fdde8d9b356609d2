/// The hash of the word tables: the build script lays them out with it, the lexer looks words up with it.
fn word_hash(word: &[u8]) -> u32 {
    word.iter().fold(0x811c_9dc5, |h: u32, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193)).rotate_left(15)
}
