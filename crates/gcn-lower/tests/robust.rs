//! Code objects with random changes: the fuzzer tests the same for longer (`fuzz/`).

#[path = "support/lowered.rs"]
mod lowered;

use lowered::lower_all;

/// Code objects of kernels that are lowered.
const SEEDS: [&[u8]; 4] = [
    include_bytes!("../../gcn/tests/data/saxpy.gfx906.hsaco"),
    include_bytes!("../../gcn/tests/data/saxpy.gfx90a.hsaco"),
    include_bytes!("../../gcn/tests/data/saxpy.gfx1100.hsaco"),
    include_bytes!("../../gcn/tests/data/saxpy.gfx1201.hsaco"),
];

/// A generator of random numbers (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}

#[test]
fn changed_code_objects_are_refused_or_keep_the_rules() {
    let mut random = Random(2026);
    let (mut lowered, mut refused) = (0, 0);
    for seed in SEEDS {
        let (kept, _) = lower_all(seed);
        assert!(kept > 0, "no kernel of a seed is lowered");
        let object = gcn::CodeObject::read(seed).expect("a code object");
        let code = object.code(&object.kernels[0]).expect("code");
        let start = code.as_ptr() as usize - seed.as_ptr() as usize;
        for round in 0..1500 {
            let mut bytes = seed.to_vec();
            for _ in 0..=random.below(3) {
                // Mostly the code itself.
                let at =
                    if round % 4 == 0 { random.below(bytes.len()) } else { start + random.below(code.len()) };
                bytes[at] = match random.below(3) {
                    0 => random.below(256) as u8,
                    _ => bytes[at] ^ 1 << random.below(8),
                };
            }
            let (kept, not) = lower_all(&bytes);
            (lowered, refused) = (lowered + kept, refused + not);
        }
    }
    assert!(lowered > 1000 && refused > 100, "{lowered} lowered, {refused} refused");
}

/// Every launch copies a kernel's arguments, so a descriptor cannot ask for gigabytes.
#[test]
fn huge_arguments_are_refused() {
    const KERNARG_SIZE: usize = 8;
    for seed in SEEDS {
        let object = gcn::CodeObject::read(seed).expect("a code object");
        let address = object.kernels[0].descriptor_address;
        let rest = object.bytes_at(address).expect("the descriptor");
        let at = rest.as_ptr() as usize - seed.as_ptr() as usize + KERNARG_SIZE;
        for (size, fits) in [(4096u32, true), (1 << 21, false), (1 << 31, false), (u32::MAX, false)] {
            let mut bytes = seed.to_vec();
            bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
            let object = gcn::CodeObject::read(&bytes).expect("a code object");
            let kernel = &object.kernels[0];
            let lowered = gcn_lower::lower(&object, kernel).map(|_| ());
            for result in [lowered, gcn_lower::decode(&object, kernel)] {
                assert_eq!(result.is_ok(), fits, "{size}: {result:?}");
                if let Err(errors) = result {
                    assert!(errors[0].message.contains("at most 1048576"), "{size}: {errors:?}");
                    assert_eq!(errors[0].address, address);
                }
            }
        }
    }
}
