//! Bulk copies through tensor maps, and the maps' fields.

use tensormap::walk::{Part, Row, Wide};
use tensormap::{BYTES, Element, Field, Map, NAN, WORDS};
use wave::op::{AtomOp, AtomTy, Effect, Extra, MapField, Walk, Way};

use super::bulk::{Copying, Kept, UNIT, each, reduce};
use super::{Caller, Operands, lanes};
use crate::fault::FaultKind;
use crate::memory::copy_guarded;

/// Maximum number of bytes in a row of a box: 256 slices of 32.
const LONGEST: usize = 8192;

/// Bytes that swizzling keeps together.
const PART: usize = UNIT as usize;

/// Alignment of a box in shared memory.
const ALIGNMENT: u64 = 128;

/// Alignment of a tensor map.
const MAP_ALIGNMENT: u64 = 64;

/// The words of a map at a generic address.
fn read(address: u64) -> Option<[u64; WORDS]> {
    let mut words = [0u64; WORDS];
    // SAFETY: writes to the array; the guarded copy may read from any address.
    let read = unsafe { copy_guarded(words.as_mut_ptr().cast(), address as *const u8, BYTES) };
    read.ok().map(|()| words)
}

/// The type of a map's elements for atomics.
fn atomic(element: Element) -> Option<AtomTy> {
    Some(match element {
        Element::U32 => AtomTy::U32,
        Element::I32 => AtomTy::S32,
        Element::U64 => AtomTy::U64,
        Element::I64 => AtomTy::S64,
        Element::F16 => AtomTy::F16,
        Element::Bf16 => AtomTy::BF16,
        Element::F32 | Element::F32Ftz => AtomTy::F32,
        Element::F64 => AtomTy::F64,
        _ => return None,
    })
}

impl Copying<'_, '_> {
    /// Copies a part of a tensor.
    pub(super) fn tensor(&self, rank: u8, walk: Walk, values: &[u64]) -> Option<()> {
        let &[to, from, ref rest @ ..] = values else { return self.malformed() };
        let (map_address, shared) = if self.bulk.way == Way::Load { (from, to) } else { (to, from) };
        let (barrier, rest) = match (self.bulk.has_barrier(), rest) {
            (true, &[barrier, ref rest @ ..]) => (Some(barrier), rest),
            (true, []) => return self.malformed(),
            (false, rest) => (None, rest),
        };
        let (places, offsets) = (walk.coordinates(rank), walk.offsets(rank));
        let (place, rest) = rest.split_at_checked(places).or_else(|| self.malformed())?;
        let (offsets, rest) = rest.split_at_checked(offsets).or_else(|| self.malformed())?;
        let place: Vec<i32> = place.iter().map(|&v| v as i32).collect();
        let offsets: Vec<u32> = offsets.iter().map(|&v| v as u32).collect();

        let map = self.map(map_address, rank)?;
        let part = match walk {
            Walk::Tile => Part::Tile(&place),
            Walk::Gather4 | Walk::Scatter4 => Part::Rows(&place),
            Walk::Im2col | Walk::Im2colNoOffs => Part::Im2col(&place, &offsets),
            Walk::Im2colW | Walk::Im2colW128 => match *offsets.as_slice() {
                [halo, offset] => {
                    Part::Wide(&place, Wide { halo, offset, quarters: walk == Walk::Im2colW128 })
                }
                _ => return self.malformed(),
            },
        };
        let store = self.bulk.way == Way::Store;
        let go = |f: &mut dyn FnMut(Row) -> Option<()>| match map.walk(part, store, f) {
            Ok(done) => done,
            Err(mismatch) => {
                self.tell(FaultKind::IllegalInstruction, map_address, &mismatch.to_string());
                None
            }
        };
        // The bytes to report to the barrier, and the size of the box in shared memory, which rows need not
        // fill.
        let (mut bytes, mut extent) = (0, 0);
        go(&mut |row| {
            bytes += row.bytes;
            extent = row.at + row.bytes;
            Some(())
        })?;
        match (self.bulk.way, barrier) {
            (Way::Load, Some(barrier)) => {
                let mask = match (self.bulk.extra, rest) {
                    (Extra::Multicast, &[mask]) => Some(mask),
                    _ => None,
                };
                let places: Vec<u64> = mask.map_or_else(|| vec![shared], |m| each(m, shared).collect());
                let barriers: Vec<u64> = mask.map_or_else(|| vec![barrier], |m| each(m, barrier).collect());
                for &place in &places {
                    self.box_at(place, extent)?;
                }
                go(&mut |row| self.load(&map, &row, &places))?;
                barriers.into_iter().try_for_each(|b| self.complete(b, bytes))
            }
            (Way::Store, None) => {
                self.box_at(shared, extent)?;
                go(&mut |row| self.store(&map, &row, shared))
            }
            _ => self.malformed(),
        }
    }

    fn map(&self, address: u64, rank: u8) -> Option<Map> {
        if !address.is_multiple_of(MAP_ALIGNMENT) {
            self.tell(FaultKind::MisalignedAddress, address, "a tensor map must be aligned to 64 bytes");
            return None;
        }
        let Some(words) = read(address) else {
            self.tell(FaultKind::IllegalAddress, address, "the tensor map");
            return None;
        };
        match Map::decode(&words).filter(|m| m.rank == usize::from(rank)) {
            Some(map) => Some(map),
            None => {
                self.tell(FaultKind::IllegalInstruction, address, "not a tensor map of this rank");
                None
            }
        }
    }

    /// Checks that a box of `bytes` fits at an offset in shared memory.
    fn box_at(&self, offset: u64, bytes: u64) -> Option<()> {
        if !offset.is_multiple_of(ALIGNMENT) {
            self.tell(
                FaultKind::MisalignedAddress,
                offset,
                "a box in shared memory must be aligned to 128 bytes",
            );
            return None;
        }
        self.shared(offset, bytes, UNIT).map(|_| ())
    }

    /// The 16-byte parts of a row: each one's offset in the row, and its address in shared memory.
    fn parts(&self, map: &Map, row: &Row, shared: u64) -> Option<Vec<(usize, *mut u8)>> {
        (0..row.bytes / UNIT)
            .map(|n| {
                let offset = map.swizzle.place(shared.wrapping_add(row.at + UNIT * n));
                Some((PART * n as usize, self.shared(offset, UNIT, UNIT)?))
            })
            .collect()
    }

    fn load(&self, map: &Map, row: &Row, places: &[u64]) -> Option<()> {
        let mut bytes = [0u8; LONGEST];
        let row_bytes = bytes.get_mut(..row.bytes as usize).or_else(|| self.malformed())?;
        if map.nan && row.inside < row.bytes {
            row_bytes.as_chunks_mut().0.iter_mut().for_each(|e| *e = NAN.to_le_bytes());
        }
        let inside = row_bytes.get_mut(row.skip as usize..(row.skip + row.inside) as usize);
        let inside = inside.or_else(|| self.malformed())?;
        if !inside.is_empty() {
            self.copy(inside.as_mut_ptr(), row.address as *const u8, row.inside, row.address)?;
            map.element.loaded(inside);
        }
        for &place in places {
            for (at, part) in self.parts(map, row, place)? {
                let from = row_bytes.get(at..at + PART).or_else(|| self.malformed())?;
                // SAFETY: the part has been checked to be bytes of shared memory, `PART` of them.
                unsafe { part.copy_from_nonoverlapping(from.as_ptr(), PART) };
            }
        }
        Some(())
    }

    fn store(&self, map: &Map, row: &Row, shared: u64) -> Option<()> {
        let row = &row.stored();
        if row.inside == 0 {
            return Some(());
        }
        let mut bytes = [0u8; LONGEST];
        for (at, part) in self.parts(map, row, shared)? {
            let to = bytes.get_mut(at..at + PART).or_else(|| self.malformed())?;
            // SAFETY: the part has been checked to be bytes of shared memory, `PART` of them.
            unsafe { to.as_mut_ptr().copy_from_nonoverlapping(part, PART) };
        }
        let inside = bytes.get(row.skip as usize..(row.skip + row.inside) as usize);
        let inside = inside.or_else(|| self.malformed())?;
        match self.bulk.effect {
            Effect::Copy => self.copy(row.address as *mut u8, inside.as_ptr(), row.inside, row.address),
            Effect::ReduceElements(op) => {
                let bits = matches!(op, AtomOp::And | AtomOp::Or | AtomOp::Xor);
                let Some(ty) = atomic(map.element).filter(|_| !bits || map.element != Element::I64) else {
                    self.tell(
                        FaultKind::IllegalInstruction,
                        row.address,
                        "this reduction is not defined for this type",
                    );
                    return None;
                };
                self.writable(row.address, row.inside)?;
                let kept = if map.element == Element::F32Ftz { Kept::Global } else { Kept::Subnormals };
                // SAFETY: both ranges have just been checked; a tensor is aligned to its elements.
                unsafe { reduce(op, ty, kept, row.address, inside.as_ptr(), row.inside) };
                Some(())
            }
            Effect::Reduce(..) => self.malformed(),
        }
    }
}

/// Executes `tensormap.replace` for each lane.
pub(super) fn replace(c: &mut Caller, mask: u64, operands: &Operands) -> bool {
    lanes(mask).all(|lane| {
        let [address, which, value] = operands.of(lane);
        let d = (which >> 8) as u8;
        let field = match MapField::ALL.get((which & 0xff) as usize) {
            Some(MapField::GlobalAddress) => Field::GlobalAddress,
            Some(MapField::Rank) => Field::Rank,
            Some(MapField::BoxDim) => Field::BoxDim(d),
            Some(MapField::GlobalDim) => Field::GlobalDim(d),
            Some(MapField::GlobalStride) => Field::GlobalStride(d),
            Some(MapField::ElementStride) => Field::ElementStride(d),
            Some(MapField::ElemType) => Field::ElemType,
            Some(MapField::InterleaveLayout) => Field::InterleaveLayout,
            Some(MapField::SwizzleMode) => Field::SwizzleMode,
            Some(MapField::FillMode) => Field::FillMode,
            Some(MapField::SwizzleAtomicity) | None => {
                let detail = "tensormap.replace: this field is not known";
                c.fault(FaultKind::IllegalInstruction, Some(1 << lane), Some(address), detail);
                return false;
            }
        };
        let bad = |kind, detail: &str| {
            c.fault(kind, Some(1 << lane), Some(address), format!("tensormap.replace: {detail}"));
            false
        };
        if !address.is_multiple_of(MAP_ALIGNMENT) {
            return bad(FaultKind::MisalignedAddress, "a tensor map must be aligned to 64 bytes");
        }
        let Some(mut words) = read(address) else {
            return bad(FaultKind::IllegalAddress, "the tensor map");
        };
        tensormap::replace(&mut words, field, value);
        // SAFETY: a kernel may write to any address; the guarded copy handles unmapped memory.
        match unsafe { copy_guarded(address as *mut u8, words.as_ptr().cast(), BYTES) } {
            Ok(()) => true,
            Err(_) => bad(FaultKind::IllegalAddress, "the tensor map"),
        }
    })
}
