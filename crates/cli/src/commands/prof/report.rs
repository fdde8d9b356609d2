//! What was recorded, as tables for people and as JSON.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::Duration;

use anyhow::Result;
use driver::mangled::readable;
use driver::profile::{Counts, Entry, Figures, Kind, Process};
use serde::Serialize;

use crate::table;

/// `1.234 ms`: a time in the unit that needs the fewest digits.
fn time(nanoseconds: u64) -> String {
    const UNITS: [(&str, f64); 3] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3)];
    let value = nanoseconds as f64;
    match UNITS.iter().find(|(_, size)| value >= *size) {
        Some((unit, size)) => {
            let value = value / size;
            let digits = if value < 10.0 {
                3
            } else if value < 100.0 {
                2
            } else {
                1
            };
            format!("{value:.digits$} {unit}")
        }
        None => format!("{nanoseconds} ns"),
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Billions of bytes per second.
fn rate(figures: &Figures) -> f64 {
    ratio(figures.bytes, figures.total)
}

/// Whether it occupies the device.
fn is_device_work(kind: Kind) -> bool {
    !matches!(kind, Kind::Process | Kind::HostFunction | Kind::Wait) && !kind.is_of_program()
}

/// The entries of all processes, those of one kernel or kind as one, in order of their times.
fn joined(processes: &[Process]) -> Vec<Entry> {
    let mut all: Vec<Entry> = Vec::new();
    let mut places: HashMap<(Kind, &str), usize> = HashMap::new();
    let entries = processes.iter().flat_map(|process| &process.entries);
    for entry in entries.filter(|entry| entry.kind != Kind::Process && entry.figures.count > 0) {
        let place = *places.entry((entry.kind, &entry.name)).or_insert(all.len());
        match all.get_mut(place) {
            Some(known) => known.figures.join(&entry.figures),
            None => all.push(entry.clone()),
        }
    }
    all.sort_by_key(|entry| std::cmp::Reverse(entry.figures.total));
    all
}

/// The sum of some entries' figures.
fn sum<'a>(entries: impl Iterator<Item = &'a Entry>) -> Figures {
    entries.fold(Figures::default(), |mut all, entry| {
        all.join(&entry.figures);
        all
    })
}

/// `12.3 M`: a number with the prefix that needs the fewest digits.
fn number(count: u64) -> String {
    const PREFIXES: [(&str, f64); 5] = [("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
    match PREFIXES.iter().find(|(_, size)| count as f64 >= *size) {
        Some((prefix, size)) => format!("{:.3} {prefix}", count as f64 / size),
        None => count.to_string(),
    }
}

/// What the launches of a kernel did in which time: those that were not counted, or all if there are no
/// others. `true`: the time is that of launches that were counted.
fn measured(figures: &Figures) -> (Counts, u64, bool) {
    match figures.count > figures.counted {
        true => {
            let counts = figures.counts.without(&figures.of_counted);
            (counts, figures.total.saturating_sub(figures.counted_time), false)
        }
        false => (figures.of_counted, figures.counted_time, true),
    }
}

/// The table of what kernels did; empty if nothing was counted.
fn counters(kernels: &[&Entry]) -> String {
    let counted = || kernels.iter().filter(|entry| entry.figures.counted > 0);
    if counted().next().is_none() {
        return String::new();
    }
    let row = |entry: &&Entry| {
        let counts = &entry.figures.counts;
        let (part, time, slow) = measured(&entry.figures);
        let rate = |number: u64| format!("{:.2}{}", ratio(number, time), if slow { "*" } else { "" });
        let lanes = 100.0 * ratio(counts.operations, counts.slots);
        let mut row = vec![format!("{lanes:>5.1} %"), rate(part.flops), rate(part.loaded + part.stored)];
        row.extend([counts.operations, counts.flops].map(number));
        row.extend([counts.loaded, counts.stored, counts.shared].map(table::bytes));
        row.extend([number(counts.barriers), readable(&entry.name).into_owned()]);
        row
    };
    let headings = [
        "lanes",
        "GFLOP/s",
        "GB/s",
        "operations",
        "flop",
        "loaded",
        "stored",
        "shared",
        "barriers",
        "kernel",
    ];
    let mut out = format!("\n{}", table::columns(&headings, &counted().map(row).collect::<Vec<_>>()));
    if counted().any(|entry| measured(&entry.figures).2) {
        out.push_str("* each launch was counted, which takes longer than the kernel by itself\n");
    }
    out
}

/// The tables.
pub fn text(wall: Duration, processes: &[Process], killed: bool) -> String {
    let wall = wall.as_nanos().try_into().unwrap_or(u64::MAX);
    if processes.is_empty() {
        return format!("\nNothing was launched in {}: no process used the driver.\n", time(wall));
    }
    let all = joined(processes);
    let (told, work): (Vec<_>, Vec<_>) = all.iter().partition(|entry| entry.kind.is_of_program());
    let (kernels, others): (Vec<_>, Vec<_>) = work.into_iter().partition(|entry| entry.kind == Kind::Kernel);
    let of_kernels = sum(kernels.iter().copied());
    let of_moves = sum(others.iter().copied().filter(|entry| is_device_work(entry.kind)));
    let device = of_kernels.total + of_moves.total;
    let mut out = match processes.len() {
        1 => format!("\nTime {}", time(wall)),
        count => format!("\nTime {}, {count} processes", time(wall)),
    };
    match kernels.is_empty() {
        // Work is recorded when it has ended.
        true if killed => out.push_str("; no kernel had ended when the program was killed"),
        true => out.push_str("; no kernel was launched"),
        false => {
            let plural = if of_kernels.count == 1 { "" } else { "es" };
            out.push_str(&format!("; kernels {}", time(of_kernels.total)));
            out.push_str(&format!(" in {} launch{plural}", of_kernels.count));
            out.push_str(&format!(", code for them {}", time(of_kernels.making)));
        }
    }
    out.push_str(&format!("; copies and fills {}\n", time(of_moves.total)));
    let share = |entry: &Entry| match is_device_work(entry.kind) {
        true => format!("{:>5.1} %", 100.0 * ratio(entry.figures.total, device)),
        false => String::new(),
    };
    if !kernels.is_empty() {
        let row = |entry: &&Entry| {
            let figures = &entry.figures;
            let mean = figures.total / figures.count.max(1);
            let mut row = vec![share(entry), time(figures.total), figures.count.to_string()];
            row.extend([mean, figures.least, figures.most, figures.making].map(time));
            row.push(readable(&entry.name).into_owned());
            row
        };
        let headings = ["share", "total", "launches", "mean", "least", "most", "code", "kernel"];
        let rows: Vec<_> = kernels.iter().map(row).collect();
        out.push_str(&format!("\n{}", table::columns(&headings, &rows)));
    }
    out.push_str(&counters(&kernels));
    if !others.is_empty() {
        let row = |entry: &&Entry| {
            let figures = &entry.figures;
            let mean = figures.total / figures.count.max(1);
            let mut row = vec![share(entry), time(figures.total), figures.count.to_string()];
            row.extend([mean, figures.least, figures.most].map(time));
            row.extend(match figures.bytes {
                0 => [String::new(), String::new()],
                bytes => [table::bytes(bytes), format!("{:.2}", rate(figures))],
            });
            row.push(entry.kind.name().into());
            row
        };
        let headings = ["share", "total", "count", "mean", "least", "most", "bytes", "GB/s", "work"];
        let rows: Vec<_> = others.iter().map(row).collect();
        out.push_str(&format!("\n{}", table::columns(&headings, &rows)));
    }
    let ranges: Vec<_> = told.iter().filter(|entry| entry.kind == Kind::Range).collect();
    if !ranges.is_empty() {
        let row = |entry: &&&Entry| {
            let figures = &entry.figures;
            let mean = figures.total / figures.count.max(1);
            let mut row = vec![time(figures.total), figures.count.to_string()];
            row.extend([mean, figures.least, figures.most].map(time));
            row.push(entry.name.clone());
            row
        };
        let headings = ["total", "count", "mean", "least", "most", "range"];
        let rows: Vec<_> = ranges.iter().map(row).collect();
        out.push_str(&format!("\n{}", table::columns(&headings, &rows)));
    }
    out
}

#[derive(Serialize)]
struct Profile {
    /// The command line that was run.
    command: Vec<String>,
    /// From its start to its end.
    seconds: f64,
    /// The processes that used the driver, in the order in which they began.
    processes: Vec<OfProcess>,
}

#[derive(Serialize)]
struct OfProcess {
    id: u64,
    program: String,
    kernels: Vec<OfKernel>,
    /// Copies, fills, host functions and waits.
    other: Vec<OfWork>,
    /// What the program names by NVTX.
    ranges: Vec<OfRange>,
    marks: Vec<OfMark>,
}

#[derive(Serialize)]
struct OfRange {
    /// With the domain before it, if it has one: `domain: name`.
    name: String,
    count: u64,
    total_ns: u64,
    least_ns: u64,
    most_ns: u64,
}

#[derive(Serialize)]
struct OfMark {
    name: String,
    count: u64,
}

#[derive(Serialize)]
struct OfKernel {
    /// As in the module.
    symbol: String,
    /// Without the types of C++.
    name: String,
    launches: u64,
    total_ns: u64,
    least_ns: u64,
    most_ns: u64,
    /// The time in which code was made, which the others do not include.
    code_ns: u64,
    /// Null unless counters were asked for.
    counters: Option<OfLaunches>,
}

/// What all launches of a kernel did.
#[derive(Serialize)]
struct OfLaunches {
    /// The launches that were counted themselves; others count as one of the same shape.
    counted_launches: u64,
    /// Their part of the kernel's time.
    counted_ns: u64,
    operations: u64,
    /// What the number of operations would be if all lanes of the warps had been active.
    lane_slots: u64,
    flop: u64,
    loaded_bytes: u64,
    stored_bytes: u64,
    shared_bytes: u64,
    barriers: u64,
    /// Of launches that were not counted, if there are any.
    gflop_per_second: f64,
    gb_per_second: f64,
}

impl OfLaunches {
    fn of(figures: &Figures) -> Option<OfLaunches> {
        let Counts { operations, slots, flops, loaded, stored, shared, barriers } = figures.counts;
        let (part, time, _) = measured(figures);
        (figures.counted > 0).then(|| OfLaunches {
            counted_launches: figures.counted,
            counted_ns: figures.counted_time,
            operations,
            lane_slots: slots,
            flop: flops,
            loaded_bytes: loaded,
            stored_bytes: stored,
            shared_bytes: shared,
            barriers,
            gflop_per_second: ratio(part.flops, time),
            gb_per_second: ratio(part.loaded + part.stored, time),
        })
    }
}

#[derive(Serialize)]
struct OfWork {
    kind: &'static str,
    count: u64,
    total_ns: u64,
    least_ns: u64,
    most_ns: u64,
    bytes: u64,
}

impl From<&Entry> for OfRange {
    fn from(entry: &Entry) -> OfRange {
        let Figures { count, total, least, most, .. } = entry.figures;
        OfRange { name: entry.name.clone(), count, total_ns: total, least_ns: least, most_ns: most }
    }
}

impl From<&Entry> for OfMark {
    fn from(entry: &Entry) -> OfMark {
        OfMark { name: entry.name.clone(), count: entry.figures.count }
    }
}

impl From<&Process> for OfProcess {
    fn from(process: &Process) -> OfProcess {
        let entries = joined(std::slice::from_ref(process));
        let (told, work): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.kind.is_of_program());
        let (kernels, others): (Vec<_>, Vec<_>) =
            work.into_iter().partition(|entry| entry.kind == Kind::Kernel);
        let kernel = |entry: Entry| {
            let Figures { count: launches, total, least, most, making, .. } = entry.figures;
            OfKernel {
                name: readable(&entry.name).into_owned(),
                symbol: entry.name,
                launches,
                total_ns: total,
                least_ns: least,
                most_ns: most,
                code_ns: making,
                counters: OfLaunches::of(&entry.figures),
            }
        };
        let other = |entry: Entry| {
            let Figures { count, total, least, most, bytes, .. } = entry.figures;
            let kind = entry.kind.name();
            OfWork { kind, count, total_ns: total, least_ns: least, most_ns: most, bytes }
        };
        OfProcess {
            id: process.id,
            program: process.program.clone(),
            kernels: kernels.into_iter().map(kernel).collect(),
            other: others.into_iter().map(other).collect(),
            ranges: told.iter().filter(|entry| entry.kind == Kind::Range).map(OfRange::from).collect(),
            marks: told.iter().filter(|entry| entry.kind == Kind::Mark).map(OfMark::from).collect(),
        }
    }
}

/// The figures of each process as JSON.
pub fn json(command: &[OsString], wall: Duration, processes: &[Process]) -> Result<String> {
    let command = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let processes = processes.iter().map(OfProcess::from).collect();
    let profile = Profile { command, seconds: wall.as_secs_f64(), processes };
    Ok(serde_json::to_string_pretty(&profile)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_four_digits() {
        for (nanoseconds, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1000, "1.000 µs"),
            (12_345, "12.35 µs"),
            (123_456_789, "123.5 ms"),
            (1_500_000_000, "1.500 s"),
        ] {
            assert_eq!(time(nanoseconds), text);
        }
    }

    fn entry(kind: Kind, name: &str, times: &[u64], bytes: u64) -> Entry {
        let mut figures = Figures::default();
        times.iter().for_each(|time| figures.add(*time, 10, bytes));
        Entry { kind, name: name.into(), figures }
    }

    #[test]
    fn processes_are_one_table() {
        let process = |entries| Process { id: 1, program: "p".into(), entries, events: Vec::new() };
        let processes = [
            process(vec![
                entry(Kind::Process, "p", &[], 0),
                entry(Kind::Kernel, "_Z1aPf", &[100, 300], 0),
                entry(Kind::Kernel, "unused", &[], 0),
                entry(Kind::Fill, "", &[100], 1000),
            ]),
            process(vec![entry(Kind::Kernel, "b", &[1100], 0), entry(Kind::Kernel, "_Z1aPf", &[400], 0)]),
        ];
        let wanted = "\n\
            Time 1.000 ms, 2 processes; kernels 1.900 µs in 4 launches, code for them 40 ns; copies and \
            fills 100 ns\n\n\
            share       total  launches      mean     least      most   code  kernel\n \
            55.0 %  1.100 µs         1  1.100 µs  1.100 µs  1.100 µs  10 ns  b\n \
            40.0 %    800 ns         3    266 ns    100 ns    400 ns  30 ns  a\n\n\
            share     total  count    mean   least    most     bytes   GB/s  work\n  \
            5.0 %  100 ns      1  100 ns  100 ns  100 ns  1000 B  10.00  fill\n";
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed(&text(Duration::from_millis(1), &processes, false)), squeezed(wanted));
        assert!(text(Duration::ZERO, &[], false).contains("no process used the driver"));
        let idle = [process(Vec::new())];
        assert!(text(Duration::ZERO, &idle, false).contains("no kernel was launched"));
        assert!(text(Duration::ZERO, &idle, true).contains("no kernel had ended when"));
    }
}
