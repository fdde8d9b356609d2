//! What a process records, as it lies in two files: totals and, if asked for, events.
//!
//! Both consist of words of 64 bits. The file of totals begins with [`MAGIC`] and the process's number; its
//! entries follow, one for each kernel, range and other kind of work. The recorder overwrites an entry's
//! figures in place after each piece of work, so that the file is complete however the process ends. The file
//! of events has a record of fixed size for each piece of work.

/// The first word; the last byte is the version of the format.
const MAGIC: u64 = 0x616e_7977_7072_6602;

/// Words before the first entry.
pub(super) const HEADER: usize = 2;

/// The index in an entry of its first figure.
const FIGURES: usize = 2;
/// The words of an entry's figures.
const WORDS: usize = 8 + 2 * Counts::WORDS;
/// Words of an entry before its name.
const ENTRY: usize = FIGURES + WORDS + 1;
/// Words of an event.
const EVENT: usize = 15;

/// The longest name that is recorded, in bytes.
const MOST_NAME: usize = 16 << 10;

/// Kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The process itself; the name is the program's path.
    Process,
    /// Launches of a kernel.
    Kernel,
    /// Copies from the program's memory.
    HostToDevice,
    /// Copies to the program's memory.
    DeviceToHost,
    /// Copies within device memory.
    DeviceToDevice,
    /// Copies within the program's memory.
    HostToHost,
    /// Fills.
    Fill,
    /// Decompression.
    Decompress,
    /// Functions of the program that a stream calls.
    HostFunction,
    /// A stream waits: for an event, a word in memory or another stream.
    Wait,
    /// A range of the program's own (NVTX). The event's stream is the thread that ended it.
    Range,
    /// A moment that the program marks (NVTX), in a thread as above.
    Mark,
    /// A thread's name, which the program gave it.
    Thread,
}

impl Kind {
    /// All of them, in the order of their numbers in files.
    pub const ALL: [Kind; 13] = [
        Kind::Process,
        Kind::Kernel,
        Kind::HostToDevice,
        Kind::DeviceToHost,
        Kind::DeviceToDevice,
        Kind::HostToHost,
        Kind::Fill,
        Kind::Decompress,
        Kind::HostFunction,
        Kind::Wait,
        Kind::Range,
        Kind::Mark,
        Kind::Thread,
    ];

    /// Whether the program told of it (NVTX).
    pub fn is_of_program(self) -> bool {
        matches!(self, Kind::Range | Kind::Mark | Kind::Thread)
    }

    fn of(word: u64) -> Option<Kind> {
        usize::try_from(word).ok().and_then(|index| Kind::ALL.get(index)).copied()
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Process => "process",
            Kind::Kernel => "kernel",
            Kind::HostToDevice => "copy from host to device",
            Kind::DeviceToHost => "copy from device to host",
            Kind::DeviceToDevice => "copy from device to device",
            Kind::HostToHost => "copy from host to host",
            Kind::Fill => "fill",
            Kind::Decompress => "decompression",
            Kind::HostFunction => "host function",
            Kind::Wait => "wait",
            Kind::Range => "range",
            Kind::Mark => "mark",
            Kind::Thread => "thread",
        }
    }
}

/// What kernels did, if it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Operations, each as often as threads executed it.
    pub operations: u64,
    /// What [`Counts::operations`] would be if all lanes of the warps had been active.
    pub slots: u64,
    /// Operations on floats.
    pub flops: u64,
    /// Bytes read from global and constant memory.
    pub loaded: u64,
    /// Bytes written to global memory.
    pub stored: u64,
    /// Bytes read from and written to shared memory.
    pub shared: u64,
    /// Waits of warps at barriers.
    pub barriers: u64,
}

impl Counts {
    const WORDS: usize = 7;

    /// Adds other counts.
    pub fn join(&mut self, other: &Counts) {
        let (own, other) = (self.words(), other.words());
        *self = Counts::of(std::array::from_fn(|at| own[at].saturating_add(other[at])));
    }

    /// The counts without some that they include.
    #[must_use]
    pub fn without(&self, part: &Counts) -> Counts {
        let (own, part) = (self.words(), part.words());
        Counts::of(std::array::from_fn(|at| own[at].saturating_sub(part[at])))
    }

    fn words(&self) -> [u64; Counts::WORDS] {
        let &Counts { operations, slots, flops, loaded, stored, shared, barriers } = self;
        [operations, slots, flops, loaded, stored, shared, barriers]
    }

    fn of([operations, slots, flops, loaded, stored, shared, barriers]: [u64; Counts::WORDS]) -> Counts {
        Counts { operations, slots, flops, loaded, stored, shared, barriers }
    }
}

/// What was recorded of all work of one kind, or of all launches of a kernel. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// How often.
    pub count: u64,
    /// The sum of the times.
    pub total: u64,
    /// The shortest time.
    pub least: u64,
    /// The longest time.
    pub most: u64,
    /// The time in which code was made before launches, which the others do not include.
    pub making: u64,
    /// The bytes that were copied or filled.
    pub bytes: u64,
    /// The number of launches that were counted themselves.
    pub counted: u64,
    /// The sum of their times.
    pub counted_time: u64,
    /// What they did.
    pub of_counted: Counts,
    /// What all launches did: those that were not counted as much as one of the same shape that was.
    pub counts: Counts,
}

impl Figures {
    /// Adds one piece of work.
    pub fn add(&mut self, time: u64, making: u64, bytes: u64) {
        let one =
            Figures { count: 1, total: time, least: time, most: time, making, bytes, ..Figures::default() };
        self.join(&one);
    }

    /// Adds other figures.
    pub fn join(&mut self, other: &Figures) {
        let least = if self.count == 0 { other.least } else { self.least.min(other.least) };
        let (mut counts, mut of_counted) = (self.counts, self.of_counted);
        counts.join(&other.counts);
        of_counted.join(&other.of_counted);
        *self = Figures {
            count: self.count.saturating_add(other.count),
            total: self.total.saturating_add(other.total),
            least: if other.count == 0 { self.least } else { least },
            most: self.most.max(other.most),
            making: self.making.saturating_add(other.making),
            bytes: self.bytes.saturating_add(other.bytes),
            counted: self.counted.saturating_add(other.counted),
            counted_time: self.counted_time.saturating_add(other.counted_time),
            of_counted,
            counts,
        };
    }

    /// Adds what one launch did, whose time has been added; `counted`: it was counted itself.
    pub fn add_counts(&mut self, counts: &Counts, counted: Option<u64>) {
        self.counts.join(counts);
        if let Some(time) = counted {
            self.counted = self.counted.saturating_add(1);
            self.counted_time = self.counted_time.saturating_add(time);
            self.of_counted.join(counts);
        }
    }

    fn words(&self) -> [u64; WORDS] {
        let &Figures { count, total, least, most, making, bytes, counted, counted_time, .. } = self;
        let first = [count, total, least, most, making, bytes, counted, counted_time];
        let all: Vec<u64> =
            first.into_iter().chain(self.of_counted.words()).chain(self.counts.words()).collect();
        std::array::from_fn(|at| all.get(at).copied().unwrap_or_default())
    }

    fn of(words: [u64; WORDS]) -> Figures {
        let [count, total, least, most, making, bytes, counted, counted_time, ..] = words;
        let counts = |from: usize| {
            Counts::of(std::array::from_fn(|at| words.get(from + at).copied().unwrap_or_default()))
        };
        let (of_counted, counts) = (counts(8), counts(8 + Counts::WORDS));
        Figures { count, total, least, most, making, bytes, counted, counted_time, of_counted, counts }
    }
}

/// A kernel, or all other work of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kind.
    pub kind: Kind,
    /// The name of the kernel, program, range, mark or thread; otherwise empty.
    pub name: String,
    /// What was recorded.
    pub figures: Figures,
}

/// One piece of work. Times are in nanoseconds of the system's clock since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The index of its entry.
    pub entry: u64,
    /// The context's id.
    pub context: u64,
    /// The stream's id in its context.
    pub stream: u64,
    /// The device's number.
    pub device: u64,
    /// When its turn came.
    pub from: u64,
    /// When it began: of a kernel, when its code was there.
    pub begun: u64,
    /// When it ended.
    pub to: u64,
    /// Of a launch: blocks in x, y and z.
    pub grid: [u64; 3],
    /// Of a launch: threads per block in x, y and z.
    pub block: [u64; 3],
    /// Of a launch: bytes of dynamic shared memory per block.
    pub shared: u64,
    /// Bytes copied or filled.
    pub bytes: u64,
}

impl Event {
    pub(super) fn bytes(&self) -> Vec<u8> {
        let &Event { entry, context, stream, device, from, begun, to, grid, block, shared, bytes } = self;
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let words: [u64; EVENT] =
            [entry, context, stream, device, from, begun, to, gx, gy, gz, bx, by, bz, shared, bytes];
        of_words(&words)
    }

    fn of(words: [u64; EVENT]) -> Event {
        let [entry, context, stream, device, from, begun, to, gx, gy, gz, bx, by, bz, shared, bytes] = words;
        let (grid, block) = ([gx, gy, gz], [bx, by, bz]);
        Event { entry, context, stream, device, from, begun, to, grid, block, shared, bytes }
    }
}

/// What a process has recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub id: u64,
    /// The program's path.
    pub program: String,
    /// The kinds of work.
    pub entries: Vec<Entry>,
    /// The pieces of work by themselves, in the order of their ends; empty unless asked for.
    pub events: Vec<Event>,
}

impl Process {
    /// Adds what another file of the same process has.
    pub fn join(&mut self, other: Process) {
        let before = self.entries.len() as u64;
        self.entries.extend(other.entries);
        self.events
            .extend(other.events.into_iter().map(|event| Event { entry: event.entry + before, ..event }));
    }
}

fn of_words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The beginning of the file of totals.
pub(super) fn header(process: u32) -> Vec<u8> {
    of_words(&[MAGIC, u64::from(process)])
}

/// A whole entry: its number of words, the kind, the figures, the name's length and the name.
pub(super) fn entry(kind: Kind, name: &str, figures: &Figures) -> Vec<u8> {
    let name = &name.as_bytes()[..name.len().min(MOST_NAME)];
    let size = ENTRY + name.len().div_ceil(8);
    let number = Kind::ALL.iter().position(|known| *known == kind).unwrap_or_default();
    let mut bytes = of_words(&[size as u64, number as u64]);
    bytes.extend(of_words(&figures.words()));
    bytes.extend(of_words(&[name.len() as u64]));
    bytes.extend(name);
    bytes.resize(size * 8, 0);
    bytes
}

/// An entry's figures, and how far behind its beginning they lie.
pub(super) fn figures(figures: &Figures) -> (u64, Vec<u8>) {
    (FIGURES as u64 * 8, of_words(&figures.words()))
}

/// Reads both files. What follows an incomplete entry or event is left out. `None`: the first is no file of
/// totals.
pub fn parse(totals: &[u8], events: &[u8]) -> Option<Process> {
    let word = |bytes: &[u8], at: usize| {
        bytes.as_chunks::<8>().0.get(at).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    if word(totals, 0) != MAGIC {
        return None;
    }
    let mut process = Process { id: word(totals, 1), ..Process::default() };
    let mut rest = totals.get(HEADER * 8..).unwrap_or_default();
    while let Some((entry, after)) = usize::try_from(word(rest, 0))
        .ok()
        .filter(|size| *size >= ENTRY)
        .and_then(|size| rest.split_at_checked(size.checked_mul(8)?))
    {
        rest = after;
        let Some(kind) = Kind::of(word(entry, 1)) else { break };
        let figures = Figures::of(std::array::from_fn(|at| word(entry, FIGURES + at)));
        let name = entry.get(ENTRY * 8..).unwrap_or_default();
        let length = usize::try_from(word(entry, ENTRY - 1)).unwrap_or(usize::MAX).min(name.len());
        let name = String::from_utf8_lossy(name.get(..length).unwrap_or_default()).into_owned();
        if kind == Kind::Process {
            process.program.clone_from(&name);
        }
        process.entries.push(Entry { kind, name, figures });
    }
    let (events, _) = events.as_chunks::<{ EVENT * 8 }>();
    let events = events.iter().map(|event| Event::of(std::array::from_fn(|at| word(event, at))));
    let known = process.entries.len() as u64;
    process.events = events.filter(|event| event.entry < known).collect();
    Some(process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_joined() {
        let mut all = Figures::default();
        all.join(&Figures::default());
        assert_eq!(all, Figures::default());
        all.add(5, 100, 3);
        all.add(2, 0, 4);
        let wanted =
            Figures { count: 2, total: 7, least: 2, most: 5, making: 100, bytes: 7, ..Figures::default() };
        assert_eq!(all, wanted);
        all.join(&Figures::default());
        assert_eq!(all, wanted);
        let mut other = Figures::default();
        other.add(9, 0, 0);
        all.join(&other);
        assert_eq!((all.count, all.total, all.least, all.most), (3, 16, 2, 9));
        let counts = Counts { flops: 3, loaded: 4, ..Counts::default() };
        all.add_counts(&counts, Some(9));
        all.add_counts(&counts, None);
        assert_eq!((all.counted, all.counted_time, all.of_counted), (1, 9, counts));
        assert_eq!(all.counts, Counts { flops: 6, loaded: 8, ..Counts::default() });
        assert_eq!(all.counts.without(&all.of_counted), counts);
    }

    #[test]
    fn files_are_read_up_to_where_they_are_complete() {
        let numbers = Figures::of(std::array::from_fn(|at| at as u64 + 1));
        assert_eq!(numbers.words(), std::array::from_fn(|at| at as u64 + 1));
        assert_eq!((numbers.counted, numbers.of_counted.operations, numbers.counts.barriers), (7, 9, 22));
        let entries = [
            Entry { kind: Kind::Process, name: "/usr/bin/x".into(), figures: Figures::default() },
            Entry { kind: Kind::Kernel, name: "_Z3äPf".into(), figures: numbers },
            Entry { kind: Kind::Wait, name: String::new(), figures: numbers },
        ];
        let mut totals = header(42);
        let mut ends = Vec::new();
        for one in &entries {
            let start = totals.len();
            totals.extend(entry(one.kind, &one.name, &Figures::default()));
            let (offset, bytes) = figures(&one.figures);
            let at = start + offset as usize;
            totals[at..at + bytes.len()].copy_from_slice(&bytes);
            ends.push(totals.len());
        }
        let event =
            Event { entry: 1, stream: 7, from: 1, begun: 2, to: 3, grid: [4, 5, 6], ..Event::default() };
        let stray = Event { entry: 3, ..event };
        let events = [event.bytes(), stray.bytes(), event.bytes()].concat();
        let read = parse(&totals, &events).expect("a file of totals");
        assert_eq!((read.id, &*read.program, &*read.events), (42, "/usr/bin/x", &[event, event][..]));
        assert_eq!(read.entries, entries);
        for length in 0..totals.len() {
            let read = parse(&totals[..length], &events[..length.min(events.len())]);
            assert_eq!(read.is_some(), length >= 8, "{length}");
            let whole = ends.iter().filter(|end| **end <= length).count();
            assert_eq!(read.map_or(0, |read| read.entries.len()), whole, "{length}");
        }
        assert_eq!(parse(&[0; 64], &[]), None);
        // A size that exceeds every file.
        let wrong = [header(1), of_words(&[u64::MAX; 2 * ENTRY])].concat();
        assert_eq!(parse(&wrong, &[]).map(|read| read.entries.len()), Some(0));
    }
}
