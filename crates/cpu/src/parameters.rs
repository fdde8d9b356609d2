//! The parameter buffers of launches: aligned as kernels expect them, or in pages of their own.

use std::cell::Cell;

use grid::GuardedPages;
use wave::KernelInfo;
use wave::launch::Shape;

/// A unit of the largest parameter alignment.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Line(pub(crate) [u8; LINE]);

/// Alignment in bytes of parameters that may contain a tensor map.
pub(crate) const LINE: usize = 64;

/// Alignment in bytes of other parameters.
const PARAMETER: usize = 16;

/// Size of a tensor map in bytes.
const TENSOR_MAP: usize = 128;

/// A parameter buffer that kernels only read, aligned to 16 bytes, or to 64 if it may contain a tensor map.
/// It is empty if the original is aligned.
pub(crate) struct Aligned(Vec<Line>, usize);

impl Aligned {
    /// A copy of the bytes if they are not aligned.
    pub(crate) fn of(bytes: &[u8]) -> Aligned {
        let multiple = if bytes.len() < TENSOR_MAP { PARAMETER } else { LINE };
        if bytes.as_ptr().addr().is_multiple_of(multiple) || bytes.is_empty() {
            return Aligned(Vec::new(), 0);
        }
        let mut lines = vec![Line([0; LINE]); bytes.len().div_ceil(LINE)];
        for (line, chunk) in lines.iter_mut().zip(bytes.chunks(LINE)) {
            line.0.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        }
        Aligned(lines, bytes.len())
    }

    /// The buffer; `original` if that was aligned.
    pub(crate) fn bytes<'a>(&'a self, original: &'a [u8]) -> &'a [u8] {
        if self.0.is_empty() {
            return original;
        }
        // SAFETY: the lines hold this many bytes, padded at the end.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.1) }
    }
}

thread_local! {
    /// The pages of the thread's last launch: mapping them costs more than a small launch.
    static SPARE: Cell<Option<GuardedPages>> = const { Cell::new(None) };
}

/// Above this number of bytes, pages are not kept for the thread's next launch.
const KEPT: usize = 64 << 10;

/// The parameter buffer of a kernel that gets its address and may write through it, as AMD kernels do with
/// their kernarg segment: in pages of its own between inaccessible ones, so that a wrong store changes
/// nothing of the host's.
pub(crate) struct ParameterPages {
    /// `None` only while it is dropped.
    pages: Option<GuardedPages>,
    size: usize,
}

impl ParameterPages {
    /// The parameters, followed by the words that the launch writes. `None` if there is no memory.
    pub(crate) fn filled(params: &[u8], info: &KernelInfo, shape: &Shape) -> Option<ParameterPages> {
        let size = info.param_size as usize;
        let spare = SPARE.try_with(Cell::take).ok().flatten().filter(|pages| pages.size() >= size);
        let pages = match spare {
            Some(pages) => pages,
            None => GuardedPages::new(size)?,
        };
        // SAFETY: the pages are accessible and ours alone until the kernel starts, and any bytes are plain
        // data.
        let all = unsafe { std::slice::from_raw_parts_mut(pages.start(), pages.size()) };
        let given = params.len().min(size);
        all[..given].copy_from_slice(&params[..given]);
        // Also what an earlier kernel may have written behind its arguments.
        all[given..].fill(0);
        info.fill(&mut all[..size], shape);
        Some(ParameterPages { pages: Some(pages), size })
    }

    /// The buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        let Some(pages) = &self.pages else { return &[] };
        // SAFETY: the pages are at least as large and stay until this is dropped.
        unsafe { std::slice::from_raw_parts(pages.start(), self.size) }
    }
}

impl Drop for ParameterPages {
    fn drop(&mut self) {
        let pages = self.pages.take().filter(|pages| pages.size() <= KEPT);
        // At the thread's end there is no place for them.
        let _ = SPARE.try_with(|spare| spare.set(pages));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_keep_their_bytes() {
        let bytes: Vec<u8> = (0..70).collect();
        for start in 0..17 {
            for end in start..bytes.len() {
                let part = &bytes[start..end];
                let aligned = Aligned::of(part);
                let out = aligned.bytes(part);
                assert_eq!(out, part);
                assert!(out.is_empty() || out.as_ptr().addr().is_multiple_of(16));
            }
        }
    }

    #[test]
    fn a_launch_finds_nothing_of_the_last_one() {
        let shape = Shape::default();
        let info = |size| KernelInfo { param_size: size, ..KernelInfo::default() };
        let first = ParameterPages::filled(&[1; 24], &info(32), &shape).expect("memory");
        assert_eq!(first.bytes(), [[1; 24].as_slice(), &[0; 8]].concat());
        let start = first.bytes().as_ptr().cast_mut();
        // SAFETY: the byte after the parameters is on the same page, which nobody else uses.
        unsafe { start.add(32).write(7) };
        drop(first);
        let second = ParameterPages::filled(&[2; 8], &info(40), &shape).expect("memory");
        assert_eq!(second.bytes(), [[2; 8].as_slice(), &[0; 32]].concat());
    }
}
