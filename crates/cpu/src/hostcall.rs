//! Calls from AMD kernels to the host: `printf`, and memory for device `malloc`.
//!
//! A wave takes a packet from a stack in the launch's buffer, fills it, pushes it onto a second stack, and
//! waits until the host has cleared the packet's flag. A thread of the launch answers them. The layout and
//! the messages are those of AMD's device library (ROCm-Device-Libs, `ockl/src/hostcall_impl.cl`, and clr,
//! `rocclr/device/devhostcall.hpp`).
//!
//! A `printf` is a message of several packets: the control word, the format and the arguments, each padded to
//! 8 bytes.

use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::message;

/// Words of 64 bits in the buffer's head: addresses of headers and of payloads, the doorbell, the free and
/// the ready stack, the mask of packets' numbers.
const HEADERS: usize = 0;
const PAYLOADS: usize = 1;
const DOORBELL: usize = 2;
const FREE: usize = 3;
const READY: usize = 4;
const MASK: usize = 5;
/// The doorbell, a signal without an event: kernels write to it, nobody waits for it.
const SIGNAL: usize = 8;
/// The kind of such a signal, in its first word (`AMD_SIGNAL_KIND_USER`).
const KIND_USER: u64 = 1;
/// The first header.
const FIRST: usize = 16;
/// Words of a header: the next packet, the active lanes, service and flags.
const HEADER: usize = 3;
/// Words of a payload: eight for each of 64 lanes.
const PAYLOAD: usize = 512;
const SLOT: usize = 8;
/// The flag that a packet waits for an answer.
const WAITING: u32 = 1;

/// Services.
const PRINTF: u32 = 2;
const MEMORY: u32 = 3;

/// How long the thread sleeps if no packet was there.
const PAUSE: Duration = Duration::from_micros(20);
/// Fewest and most packets; at least as many as waves wait at once should be there, others wait for them.
const PACKETS: std::ops::RangeInclusive<usize> = 256..=16384;
/// Alignment of memory for `malloc`, which device code cuts into pieces.
const ALIGN: usize = 2 << 20;

/// The buffer of a launch.
pub(crate) struct Hostcalls {
    words: *mut u64,
    memory: Vec<u64>,
    packets: usize,
    /// Messages that are not complete, by number.
    messages: Mutex<(u64, HashMap<u64, Vec<u64>>)>,
    done: AtomicBool,
}

// SAFETY: the memory belongs to the value; its shared words are accessed as atomics, and a packet by one side
// at a time, as its flag says.
unsafe impl Sync for Hostcalls {}

impl Hostcalls {
    /// A buffer for about this many waves at once.
    pub fn new(waves: usize) -> Hostcalls {
        let packets = waves.clamp(*PACKETS.start(), *PACKETS.end()).next_power_of_two();
        let payloads = (FIRST + HEADER * packets).next_multiple_of(SLOT);
        let mut memory = vec![0u64; payloads + PAYLOAD * packets];
        let base = memory.as_ptr().addr() as u64;
        let at = |word: usize| base + word as u64 * 8;
        // The tag and the number of a packet are never zero at once, so that zero ends a stack.
        let mut next = packets as u64;
        for packet in 1..packets {
            if let Some(word) = memory.get_mut(FIRST + HEADER * packet) {
                *word = next;
            }
            next = packet as u64;
        }
        let head = [
            (HEADERS, at(FIRST)),
            (PAYLOADS, at(payloads)),
            (DOORBELL, at(SIGNAL)),
            (FREE, next),
            (MASK, packets as u64 - 1),
            (SIGNAL, KIND_USER),
        ];
        for (word, value) in head {
            if let Some(to) = memory.get_mut(word) {
                *to = value;
            }
        }
        let words = memory.as_mut_ptr();
        Hostcalls { words, memory, packets, messages: Mutex::default(), done: AtomicBool::new(false) }
    }

    /// The address for the kernel.
    pub fn address(&self) -> u64 {
        self.words.addr() as u64
    }

    /// Answers calls until [`Hostcalls::end`], then those that are left.
    pub fn serve(&self, print: &dyn Fn(&[u8], bool)) {
        loop {
            let last = self.done.load(Ordering::Acquire);
            let found = self.answer(print);
            match (found, last) {
                (false, true) => return,
                (false, false) => std::thread::sleep(PAUSE),
                _ => {}
            }
        }
    }

    /// The launch has ended.
    pub fn end(&self) {
        self.done.store(true, Ordering::Release);
    }

    /// A word of the buffer.
    fn word(&self, index: usize) -> *mut u64 {
        assert!(index < self.memory.len(), "a word of the buffer");
        self.words.wrapping_add(index)
    }

    /// Answers the packets that are ready; whether there were any.
    fn answer(&self, print: &dyn Fn(&[u8], bool)) -> bool {
        // SAFETY: the word is aligned and belongs to the buffer; kernels access it as an atomic, too.
        let ready = unsafe { AtomicU64::from_ptr(self.word(READY)) };
        let mut packet = ready.swap(0, Ordering::Acquire);
        let found = packet != 0;
        // A kernel may have written anything; no list is longer than there are packets.
        for _ in 0..self.packets {
            if packet == 0 {
                break;
            }
            let number = packet as usize & (self.packets - 1);
            let header = FIRST + HEADER * number;
            // SAFETY: the words lie in the buffer, and the packet is the host's until its flag is cleared.
            let (next, lanes, service) = unsafe {
                let third = self.word(header + 2).cast::<u32>();
                (ptr::read(self.word(header)), ptr::read(self.word(header + 1)), ptr::read(third))
            };
            let payload = (FIRST + HEADER * self.packets).next_multiple_of(SLOT) + PAYLOAD * number;
            for lane in (0..64).filter(|lane| lanes >> lane & 1 == 1) {
                let slot = self.word(payload + SLOT * lane).cast::<[u64; SLOT]>();
                // SAFETY: the slot lies in the buffer; see above.
                let mut words = unsafe { ptr::read(slot) };
                self.call(service, &mut words, print);
                // SAFETY: see above.
                unsafe { ptr::write(slot, words) };
            }
            // SAFETY: the upper half of the header's third word, which the kernel reads as an atomic.
            let flags = unsafe { AtomicU32::from_ptr(self.word(header + 2).cast::<u32>().wrapping_add(1)) };
            flags.fetch_and(!WAITING, Ordering::Release);
            packet = next;
        }
        found
    }

    /// Answers the call of a lane; the result replaces the first words.
    fn call(&self, service: u32, words: &mut [u64; SLOT], print: &dyn Fn(&[u8], bool)) {
        match service {
            PRINTF => words[0] = self.message(words, print),
            MEMORY => words[0] = memory(words[0], words[1]),
            other => {
                // Each lane of each wave may call it.
                static TOLD: AtomicBool = AtomicBool::new(false);
                if !TOLD.swap(true, Ordering::Relaxed) {
                    driver::log::tell(&format!(
                        "a kernel called service {other} of the host, which is not there"
                    ));
                }
                (words[0], words[1]) = (0, 0);
            }
        }
    }

    /// Takes a packet of a message. Its first word says whether it begins or ends one, how many words follow,
    /// and the message's number. The answer is the first word for the next packet, or the result at the end.
    fn message(&self, words: &[u64; SLOT], print: &dyn Fn(&[u8], bool)) -> u64 {
        let head = words[0];
        let (begins, ends, count) = (head & 1 == 1, head & 2 == 2, (head >> 5 & 7) as usize);
        let mut all = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let number = if begins {
            all.0 = all.0 % (1 << 55) + 1;
            all.0
        } else {
            head >> 8
        };
        let message = all.1.entry(number).or_default();
        message.extend(words.iter().skip(1).take(count));
        if !ends {
            return head & 0xfe | number << 8;
        }
        let message = all.1.remove(&number).unwrap_or_default();
        drop(all);
        let Some((&control, rest)) = message.split_first().filter(|(control, _)| **control <= 1) else {
            return u64::MAX;
        };
        let text = message::formatted(rest);
        print(&text, control == 1);
        text.len() as u64
    }
}

/// Memory for device code: gives `size` bytes, or takes back what lies at `address`.
fn memory(address: u64, size: u64) -> u64 {
    static GIVEN: Mutex<Option<HashMap<u64, usize>>> = Mutex::new(None);
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let given = given.get_or_insert_default();
    if address != 0 {
        if given.remove(&address).is_some() {
            // SAFETY: it was given below and not taken back since.
            unsafe { libc::free(address as *mut libc::c_void) };
        }
        return 0;
    }
    let Ok(size) = usize::try_from(size) else { return 0 };
    let mut memory = ptr::null_mut();
    // SAFETY: the pointer is valid for writing, and the alignment a power of two.
    if size == 0 || unsafe { libc::posix_memalign(&mut memory, ALIGN, size) } != 0 {
        return 0;
    }
    given.insert(memory.addr() as u64, size);
    memory.addr() as u64
}

/// Bytes in which device code keeps what it knows of the memory that it was given. AMD's library needs about
/// 100 KiB, which are zero at first; pages that are not used cost nothing.
const HEAP: usize = 1 << 20;

/// The address of that memory. All launches share it, since what one allocates another may free.
pub(crate) fn heap() -> u64 {
    static MADE: OnceLock<u64> = OnceLock::new();
    *MADE.get_or_init(|| Box::leak(vec![0u64; HEAP / 8].into_boxed_slice()).as_mut_ptr().addr() as u64)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::message::padded;

    /// A wave's two lanes send one message each, as device code does; the second has more than a packet
    /// holds.
    #[test]
    fn packets_become_messages() {
        let calls = Hostcalls::new(1);
        let out = Mutex::new(Vec::new());
        let print = |text: &[u8], error: bool| out.lock().expect("the list").push((text.to_vec(), error));
        // SAFETY: the word lies in the buffer, which no kernel uses.
        let word = |index: usize| unsafe { ptr::read(calls.word(index)) };
        let send = |lanes: u64, slots: &[(usize, &[u64])]| {
            let packet = word(FREE) as usize & (calls.packets - 1);
            let payload = (word(PAYLOADS) - calls.address()) as usize / 8 + PAYLOAD * packet;
            let header = FIRST + HEADER * packet;
            // SAFETY: as above.
            let set = |index: usize, value: u64| unsafe { ptr::write(calls.word(index), value) };
            for (lane, words) in slots {
                for (i, value) in words.iter().enumerate() {
                    set(payload + SLOT * lane + i, *value);
                }
            }
            set(header, 0);
            set(header + 1, lanes);
            set(header + 2, u64::from(PRINTF) | u64::from(WAITING) << 32);
            set(READY, packet as u64 | 1 << 20);
            assert!(calls.answer(&print) && !calls.answer(&print));
            assert_eq!(word(header + 2) >> 32, 0, "the packet is answered");
            slots.iter().map(|(lane, _)| word(payload + SLOT * lane)).collect::<Vec<u64>>()
        };
        let begin = |words: u64| 1 | words << 5;
        let heads = send(0b101, &[(0, &[begin(1), 0]), (2, &[begin(1), 1])]);
        assert!(heads[0] >> 8 != heads[1] >> 8 && heads.iter().all(|head| head & 3 == 0));
        let format = padded("lane %d\n");
        let with = |head: u64, flags: u64, words: &[u64]| {
            [&[head & !0xff | flags | (words.len() as u64) << 5][..], words].concat()
        };
        let first = [&format[..], &[0]].concat();
        assert_eq!(send(1, &[(0, &with(heads[0], 2, &first))]), [7]);
        let head = send(4, &[(2, &with(heads[1], 0, &format))])[0];
        assert_eq!(send(4, &[(2, &with(head, 2, &[2]))]), [7]);
        assert_eq!(
            *out.lock().expect("the list"),
            [(b"lane 0\n".to_vec(), false), (b"lane 2\n".to_vec(), true)]
        );
    }

    #[test]
    fn memory_is_given_and_taken_back() {
        let at = memory(0, 5 << 20);
        assert!(at != 0 && at.is_multiple_of(ALIGN as u64));
        assert_eq!((memory(at, 0), memory(at, 0), memory(0, 0), memory(0, u64::MAX)), (0, 0, 0, 0));
    }
}
