//! A trace in Chrome's format (`traceEvents`), which Perfetto opens: complete events (`"ph": "X"`, with times
//! in microseconds) on a track for each stream, and metadata (`"ph": "M"`) with the names of the tracks.

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
        Kind::HostFunction => (kind.name(), "host"),
        Kind::Wait => (kind.name(), "wait"),
        _ => (kind.name(), "memory"),
    };
    let name = readable(name).into_owned();
    let code = (event.begun.saturating_sub(event.from) >= SHOWN).then(|| Slice {
        name: format!("code for {name}"),
        category: "code",
        from: event.from,
        to: event.begun,
        event,
    });
    code.into_iter().chain([Slice { name, category, from: event.begun, to: event.to, event }])
}

/// Shares slices out over as few tracks as possible on which none overlap: parts of a graph may run at the
/// same time in one stream, and on one track a slice must end before the next begins.
fn tracks(mut slices: Vec<Slice<'_>>) -> Vec<Vec<Slice<'_>>> {
    slices.sort_by_key(|slice| (slice.from, slice.to));
    let mut tracks: Vec<Vec<Slice>> = Vec::new();
    for slice in slices {
        let is_free = |track: &&mut Vec<Slice>| track.last().is_none_or(|last| last.to <= slice.from);
        match tracks.iter_mut().find(is_free) {
            Some(track) => track.push(slice),
            None => tracks.push(vec![slice]),
        }
    }
    tracks
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
        let mut streams: BTreeMap<(u64, u64, u64), Vec<Slice>> = BTreeMap::new();
        for event in &process.events {
            let stream = streams.entry((event.device, event.context, event.stream)).or_default();
            stream.extend(slices(process, event));
        }
        for ((device, context, stream), slices) in streams {
            let name = match stream {
                LEGACY => format!("device {device}, context {context}, default stream"),
                _ => format!("device {device}, context {context}, stream {stream}"),
            };
            for slices in tracks(slices) {
                track += 1;
                events.push(meta(track, "thread_name", json!({ "name": name })));
                events.push(meta(track, "thread_sort_index", json!({ "sort_index": track })));
                events.extend(slices.iter().map(|slice| {
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
        let found = tracks(vec![slice(20, 30), slice(0, 10), slice(5, 25), slice(10, 12), slice(6, 7)]);
        let times = |track: &Vec<Slice>| track.iter().map(|s| (s.from, s.to)).collect::<Vec<_>>();
        assert_eq!(
            found.iter().map(times).collect::<Vec<_>>(),
            [vec![(0, 10), (10, 12), (20, 30)], vec![(5, 25)], vec![(6, 7)]]
        );
    }
}
