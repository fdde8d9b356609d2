//! A trace in Chrome's format (`traceEvents`), which Perfetto opens: complete events (`"ph": "X"`, with times
//! in microseconds) on a track for each stream, and on one for each thread that has ranges; moments that the
//! program marks (`"ph": "i"`); and metadata (`"ph": "M"`) with the names of the tracks.

use std::collections::BTreeMap;

use driver::mangled::readable;
use driver::profile::{Event, Kind, Process};
use serde_json::{Value, json};

/// How long code must have been looked for to be shown. Code that is there takes less.
const SHOWN: u64 = 10_000;

/// The stream that every context has.
const LEGACY: u64 = 7;

/// An event or a part of one.
struct Slice<'a> {
    name: String,
    category: &'static str,
    from: u64,
    to: u64,
    event: &'a Event,
}

/// The slices of an event: making its kernel's code, and the work itself.
fn slices<'a>(process: &'a Process, event: &'a Event) -> impl Iterator<Item = Slice<'a>> {
    let entry = usize::try_from(event.entry).ok().and_then(|index| process.entries.get(index));
    let kind = entry.map_or(Kind::Process, |entry| entry.kind);
    let (name, category) = match kind {
        Kind::Kernel => (entry.map_or("", |entry| &entry.name), "kernel"),
        Kind::Range => (entry.map_or("", |entry| &entry.name), "range"),
        Kind::Mark => (entry.map_or("", |entry| &entry.name), MARK),
        Kind::HostFunction => (kind.name(), "host"),
        Kind::Wait => (kind.name(), "wait"),
        _ => (kind.name(), "memory"),
    };
    let name = if kind == Kind::Kernel { readable(name).into_owned() } else { name.to_owned() };
    let code = (event.begun.saturating_sub(event.from) >= SHOWN).then(|| Slice {
        name: format!("code for {name}"),
        category: "code",
        from: event.from,
        to: event.begun,
        event,
    });
    code.into_iter().chain([Slice { name, category, from: event.begun, to: event.to, event }])
}

/// Shares slices out over as few tracks as possible: parts of a graph may run at the same time in one stream,
/// and on one track a slice must end before the next begins. If they `nest`, as ranges of a thread do, it may
/// also end within the one that it began in.
fn tracks(mut slices: Vec<Slice<'_>>, nest: bool) -> Vec<Vec<Slice<'_>>> {
    slices.sort_by_key(|slice| (slice.from, if nest { u64::MAX - slice.to } else { slice.to }));
    // A track and the ends of its slices that have not ended yet, the innermost last.
    let mut tracks: Vec<(Vec<Slice>, Vec<u64>)> = Vec::new();
    for slice in slices {
        for (_, ends) in &mut tracks {
            ends.retain(|end| *end > slice.from);
        }
        let fits =
            |(_, ends): &&mut (Vec<Slice>, Vec<u64>)| ends.last().is_none_or(|end| nest && *end >= slice.to);
        match tracks.iter_mut().find(fits) {
            Some((track, ends)) => {
                ends.push(slice.to);
                track.push(slice);
            }
            None => {
                let end = slice.to;
                tracks.push((vec![slice], vec![end]));
            }
        }
    }
    tracks.into_iter().map(|(track, _)| track).collect()
}

/// The category of moments.
const MARK: &str = "mark";

/// What makes a track: a stream of a context of a device, or a thread of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Thread(u64),
    Stream { device: u64, context: u64, stream: u64 },
}

impl Of {
    fn name(self, threads: &BTreeMap<u64, &str>) -> String {
        match self {
            Of::Thread(number) => match threads.get(&number) {
                Some(name) => format!("{name} (thread {number})"),
                None => format!("thread {number}"),
            },
            Of::Stream { device, context, stream: LEGACY } => {
                format!("device {device}, context {context}, default stream")
            }
            Of::Stream { device, context, stream } => {
                format!("device {device}, context {context}, stream {stream}")
            }
        }
    }
}

fn arguments(slice: &Slice<'_>) -> Value {
    let event = slice.event;
    match slice.category {
        "kernel" => json!({ "grid": event.grid, "block": event.block, "dynamic shared bytes": event.shared }),
        "memory" => {
            let time = event.to.saturating_sub(event.begun).max(1);
            json!({ "bytes": event.bytes, "GB/s": event.bytes as f64 / time as f64 })
        }
        _ => json!({}),
    }
}

fn microseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

/// The trace; time 0 is `start`.
pub fn json(processes: &[Process], start: u64) -> String {
    let mut events: Vec<Value> = Vec::new();
    // Processes with one number, as after `exec`, must not share tracks.
    let mut track = 0u64;
    for process in processes {
        let name = process.program.rsplit('/').next().unwrap_or_default();
        let meta = |track: u64, what: &str, args: Value| json!({ "ph": "M", "pid": process.id, "tid": track, "name": what, "args": args });
        events.push(meta(0, "process_name", json!({ "name": name })));
        let mut sources: BTreeMap<Of, Vec<Slice>> = BTreeMap::new();
        let mut threads: BTreeMap<u64, &str> = BTreeMap::new();
        for event in &process.events {
            let entry = usize::try_from(event.entry).ok().and_then(|index| process.entries.get(index));
            let &Event { device, context, stream, .. } = event;
            let of = match entry.map(|entry| (entry.kind, &entry.name)) {
                Some((Kind::Thread, name)) => {
                    threads.insert(stream, name);
                    continue;
                }
                Some((kind, _)) if kind.is_of_program() => Of::Thread(stream),
                _ => Of::Stream { device, context, stream },
            };
            sources.entry(of).or_default().extend(slices(process, event));
        }
        for (of, slices) in sources {
            let name = of.name(&threads);
            for slices in tracks(slices, matches!(of, Of::Thread(_))) {
                track += 1;
                events.push(meta(track, "thread_name", json!({ "name": name })));
                events.push(meta(track, "thread_sort_index", json!({ "sort_index": track })));
                events.extend(slices.iter().map(|slice| {
                    if slice.category == MARK {
                        let ts = microseconds(slice.from.saturating_sub(start));
                        return json!({
                            "ph": "i",
                            "s": "t",
                            "pid": process.id,
                            "tid": track,
                            "ts": ts,
                            "name": slice.name,
                            "cat": MARK,
                        });
                    }
                    json!({
                        "ph": "X",
                        "pid": process.id,
                        "tid": track,
                        "ts": microseconds(slice.from.saturating_sub(start)),
                        "dur": microseconds(slice.to.saturating_sub(slice.from)),
                        "name": slice.name,
                        "cat": slice.category,
                        "args": arguments(slice),
                    })
                }));
            }
        }
    }
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    format!("{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n{}\n]}}\n", events.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_one_track_do_not_overlap() {
        let event = Event::default();
        let slice = |from, to| Slice { name: String::new(), category: "kernel", from, to, event: &event };
        let all = || vec![slice(20, 30), slice(0, 10), slice(5, 25), slice(10, 12), slice(6, 7)];
        let times = |track: &Vec<Slice>| track.iter().map(|s| (s.from, s.to)).collect::<Vec<_>>();
        assert_eq!(
            tracks(all(), false).iter().map(times).collect::<Vec<_>>(),
            [vec![(0, 10), (10, 12), (20, 30)], vec![(5, 25)], vec![(6, 7)]]
        );
        // 5 to 25 begins in 0 to 10 and ends behind it; the others nest.
        assert_eq!(
            tracks(all(), true).iter().map(times).collect::<Vec<_>>(),
            [vec![(0, 10), (6, 7), (10, 12), (20, 30)], vec![(5, 25)]]
        );
    }
}
