//! Green contexts: shares of a device's multiprocessors.
//!
//! A green context has the modules and the memory of the device's primary context. The kernels in its streams
//! together run on at most as many multiprocessors as its share has, and so do kernels in the default streams
//! of a thread in which it is current, and kernels of graphs that were captured there. A kernel that finds
//! all of them in use waits for some time only, since others may wait for it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};

use crate::capability;
use crate::context::{self, Context};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::handle::{Handle, Pointers, lock};
use crate::stream::{self, Kind, STREAMS, Stream};

/// By their handles, which are also those of the contexts as which they are made current.
static GREEN: Pointers<Green> = Pointers::new();
static DESCRIPTIONS: Pointers<Resource> = Pointers::new();
/// The number of green contexts that were ever made: without any, nothing is looked up.
static MADE: AtomicUsize = AtomicUsize::new(0);
/// Streams, by id, with the green contexts that they were made in.
struct Assigned {
    streams: BTreeMap<u64, (Weak<Stream>, Arc<Green>)>,
    /// At this length, entries of streams that are gone are removed. It is twice the number that was left the
    /// last time, so that a creation does not search many streams each time.
    most: usize,
}

static ASSIGNED: RwLock<Assigned> = RwLock::new(Assigned { streams: BTreeMap::new(), most: 0 });
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Multiprocessors of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The device's ordinal.
    pub device: u32,
    /// How many they are.
    pub count: u32,
    /// The fewest that a part of them can have.
    pub smallest: u32,
    /// A part has a multiple of this number, which are scheduled together.
    pub together: u32,
    /// [`BACKFILL`], if the number need not be a multiple of [`Resource::together`].
    pub flags: u32,
    /// The split that they come from; 0 for those of a device or a context, which alone can be split.
    pub split: u64,
}

/// A group may have more multiprocessors than those scheduled together.
pub const BACKFILL: u32 = 1;

/// A group that a split asks for. [`split`] writes what it got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The multiprocessors; 0 for as many as there are.
    pub count: u32,
    /// How many are scheduled together; 0 for the default.
    pub together: u32,
    /// How many should be, if possible; 0 for [`Group::together`].
    pub preferred: u32,
    /// [`BACKFILL`] or 0.
    pub flags: u32,
}

/// The largest number of multiprocessors that can be scheduled together.
fn most_together(device: &Device) -> u32 {
    if device.info.compute_capability >= (9, 0) { 32 } else { 2 }
}

impl Resource {
    /// All multiprocessors of a device. A device with fewer than the smallest part of its capability has one
    /// part.
    pub fn of(device: &Device) -> Resource {
        let count = device.info.multiprocessors;
        let (smallest, together) = capability::parts(device.info.compute_capability);
        let (smallest, together) = (smallest.min(count), together.min(count));
        Resource { device: device.ordinal, count, smallest, together, flags: 0, split: 0 }
    }

    /// Fails unless it can be a part of a device, and can be split.
    fn check(&self, device: &Device) -> Result<()> {
        if self.count == 0 || self.count > device.info.multiprocessors || self.split != 0 {
            return Err(Error::InvalidResourceConfiguration);
        }
        Ok(())
    }

    /// A part from a split, or `None` if it has no multiprocessors.
    fn part(&self, count: u32, together: u32, flags: u32, split: u64) -> Option<Resource> {
        let smallest = self.smallest.min(count);
        (count > 0).then_some(Resource { count, smallest, together, flags, split, ..*self })
    }
}

/// Multiprocessors that are always scheduled together, on devices that schedule more together by default.
const PAIR: u32 = 2;

/// The parts that a split made, and what is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The parts.
    pub parts: Vec<Resource>,
    /// The rest, if any.
    pub rest: Option<Resource>,
}

/// Splits multiprocessors into up to `most` equal parts of at least `least`, rounded up unless that is more
/// than there are. `each` ignores which of them are scheduled together, except the pairs of capability 9.0
/// and later.
///
/// # Errors
/// [`Error::InvalidResourceConfiguration`]: there are fewer than `least`, or they come from a split.
pub fn split_equally(device: &Device, from: &Resource, least: u32, each: bool, most: u32) -> Result<Split> {
    from.check(device)?;
    let (smallest, together) = match each {
        true if from.together > PAIR => (PAIR, PAIR),
        true => (1, 1),
        false => (from.smallest, from.together),
    };
    if least > from.count {
        return Err(Error::InvalidResourceConfiguration);
    }
    let size = least.max(smallest).max(1).next_multiple_of(together.max(1)).min(from.count);
    let groups = (from.count / size).min(most);
    let split = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let parts = (0..groups).filter_map(|_| from.part(size, together, 0, split)).collect();
    Ok(Split { parts, rest: from.part(from.count - size * groups, together, 0, split) })
}

/// Splits multiprocessors into groups as asked for; each group receives its result.
///
/// # Errors
/// [`Error::InvalidValue`]: a group asks for what cannot be. [`Error::InvalidResourceConfiguration`]: there
/// are too few, or they come from a split.
pub fn split(device: &Device, from: &Resource, groups: &mut [Group]) -> Result<Split> {
    from.check(device)?;
    let split = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    let (mut left, mut parts) = (from.count, Vec::new());
    for group in groups {
        let together = if group.together == 0 { from.together } else { group.together };
        let fits = together <= most_together(device).max(from.together);
        if group.flags & !BACKFILL != 0 || !fits || (group.preferred != 0 && group.preferred < together) {
            return Err(Error::InvalidValue);
        }
        let backfill = group.flags & BACKFILL != 0;
        let whole = |count: u32| count.is_multiple_of(together);
        let count = match group.count {
            0 if backfill => left,
            0 => left - left % together,
            count if !backfill && !whole(count) => return Err(Error::InvalidValue),
            count => count,
        };
        if count > left || count < together {
            return Err(Error::InvalidResourceConfiguration);
        }
        left -= count;
        let preferred = if group.preferred == 0 { together } else { group.preferred };
        *group = Group { count, together, preferred, flags: group.flags };
        parts.extend(from.part(count, together, group.flags, split));
    }
    Ok(Split { parts, rest: from.part(left, from.together.min(left).max(1), BACKFILL, split) })
}

/// The description of a set of multiprocessors, from which green contexts are made. Descriptions are never
/// destroyed, so the same set has the same one.
///
/// # Errors
/// [`Error::InvalidResourceConfiguration`]: the parts are not of one device and one split, or the device
/// itself.
pub fn describe(parts: &[Resource], device_of: impl Fn(u32) -> Result<Arc<Device>>) -> Result<Handle> {
    static KNOWN: Mutex<Vec<(Resource, Handle)>> = Mutex::new(Vec::new());
    let first = parts.first().ok_or(Error::InvalidValue)?;
    let device = device_of(first.device).map_err(|_| Error::InvalidResourceConfiguration)?;
    // All of a device's multiprocessors and a part of them are all of them.
    let all = Resource::of(&device);
    let (first, count) = match parts.iter().find(|part| **part == all) {
        Some(whole) => (whole, Some(whole.count)),
        None => (first, parts.iter().try_fold(0u32, |sum, part| sum.checked_add(part.count))),
    };
    let alike = |part: &Resource| {
        let split = part.split == first.split || first.split == 0;
        part.device == first.device && split && part.together == first.together
    };
    let count = count.filter(|n| (1..=device.info.multiprocessors).contains(n));
    let (true, Some(count)) = (parts.iter().all(alike), count) else {
        return Err(Error::InvalidResourceConfiguration);
    };
    let smallest = first.smallest.min(count);
    let described = Resource { count, smallest, split: 0, ..*first };
    let mut known = lock(&KNOWN);
    if let Some((_, handle)) = known.iter().find(|(resource, _)| *resource == described) {
        return Ok(*handle);
    }
    let handle = DESCRIPTIONS.insert(Arc::new(described)).ok_or(Error::OutOfMemory)?;
    known.push((described, handle));
    Ok(handle)
}

/// A green context.
pub struct Green {
    /// A number unique among contexts, green or not.
    pub id: u64,
    /// The primary context of its device.
    pub context: Arc<Context>,
    /// Its share of the device's multiprocessors.
    pub resource: Resource,
    /// How many of them run kernels, of all of its streams together.
    pub(crate) busy: AtomicU32,
    context_id: u64,
    handle: OnceLock<Handle>,
    alive: AtomicBool,
    streams: Mutex<Vec<Weak<Stream>>>,
    /// A stream of its own that waits for the others when an event is recorded.
    gather: Handle,
    /// A stream of its own in which it waits for events; new streams wait for it.
    entry: Handle,
}

/// The green context of a handle.
pub fn get(handle: Handle) -> Result<Arc<Green>> {
    GREEN.get(handle).ok_or(Error::InvalidContext)
}

/// The green context whose view has this handle.
pub fn viewed(handle: Handle) -> Option<Arc<Green>> {
    if MADE.load(Ordering::Acquire) == 0 { None } else { GREEN.get(handle) }
}

/// Makes a green context on a device, which retains the primary context.
///
/// # Errors
/// [`Error::InvalidValue`]: no such description; null is that of the whole device. [`Error::InvalidDevice`]:
/// it describes another device.
pub fn create(description: Handle, device: &Arc<Device>) -> Result<Handle> {
    let resource = match description {
        0 => Resource::of(device),
        _ => *DESCRIPTIONS.get(description).ok_or(Error::InvalidValue)?,
    };
    if resource.device != device.ordinal {
        return Err(Error::InvalidDevice);
    }
    let context = context::get(context::retain_primary(device)?)?;
    let made = make(resource, &context);
    if made.is_err() {
        context::release_primary(device)?;
    }
    made
}

fn make(resource: Resource, context: &Arc<Context>) -> Result<Handle> {
    let green = Arc::new(Green {
        id: context::new_id(),
        context: Arc::clone(context),
        resource,
        busy: AtomicU32::new(0),
        context_id: context.id(),
        handle: OnceLock::new(),
        alive: AtomicBool::new(true),
        streams: Mutex::default(),
        gather: context.create_stream(Kind::NonBlocking, 0)?,
        entry: context.create_stream(Kind::NonBlocking, 0)?,
    });
    let handle = GREEN.insert(Arc::clone(&green)).ok_or(Error::OutOfMemory)?;
    // Nothing else sets it, and the program does not have it yet.
    let _ = green.handle.set(handle);
    MADE.fetch_add(1, Ordering::AcqRel);
    Ok(handle)
}

/// Destroys a green context once its work has ended. Its streams stay, but nothing can be done in them.
pub fn destroy(handle: Handle) -> Result<()> {
    let green = GREEN.remove(handle).ok_or(Error::InvalidContext)?;
    for stream in green.streams() {
        stream.synchronize();
    }
    green.alive.store(false, Ordering::Release);
    for own in [green.gather, green.entry] {
        if let Some(stream) = stream::destroy(own) {
            stream.synchronize();
        }
    }
    context::release_primary(&green.context.device)
}

/// The green context of a stream: the one it was made in, or for a default stream the one that is current.
pub fn share_of(stream: &Stream) -> Option<Arc<Green>> {
    if MADE.load(Ordering::Acquire) == 0 {
        return None;
    }
    if stream.handle == 0 {
        return context::current_green().filter(|green| green.context.id() == stream.context_id());
    }
    let assigned = ASSIGNED.read().unwrap_or_else(PoisonError::into_inner);
    assigned.streams.get(&stream.id).map(|(_, green)| Arc::clone(green))
}

/// The green context that a context's handle stands for, or for null the one that is current.
pub fn named(context: Handle) -> Option<Arc<Green>> {
    match context {
        _ if MADE.load(Ordering::Acquire) == 0 => None,
        0 => context::current_green(),
        handle => GREEN.get(handle),
    }
}

/// Fails if the green context of a stream is destroyed.
pub fn check_stream(stream: &Stream) -> Result<()> {
    if MADE.load(Ordering::Relaxed) == 0 { Ok(()) } else { share_of(stream).map_or(Ok(()), |g| g.check()) }
}

/// Forgets a stream whose handle is destroyed.
pub fn forget(stream: &Stream) {
    if MADE.load(Ordering::Acquire) != 0 {
        ASSIGNED.write().unwrap_or_else(PoisonError::into_inner).streams.remove(&stream.id);
    }
}

/// Creates a stream in the calling thread's current context: in a green context if its view is current.
pub fn create_stream(context: &Context, kind: Kind, priority: i32) -> Result<Handle> {
    let made = if MADE.load(Ordering::Acquire) == 0 { None } else { context::current_green() };
    match made {
        Some(green) => green.create_stream(kind, priority),
        None => context.create_stream(kind, priority),
    }
}

impl Green {
    /// The handle, which is also that of the context as which it is made current.
    pub fn handle(&self) -> Handle {
        self.handle.get().copied().unwrap_or(0)
    }

    /// Fails if it is destroyed, or its primary context was reset.
    pub fn check(&self) -> Result<()> {
        let alive = self.alive.load(Ordering::Acquire) && self.context.id() == self.context_id;
        if alive { Ok(()) } else { Err(Error::ContextIsDestroyed) }
    }

    fn streams(&self) -> Vec<Arc<Stream>> {
        lock(&self.streams).iter().filter_map(Weak::upgrade).collect()
    }

    fn own(handle: Handle) -> Result<Arc<Stream>> {
        STREAMS.get(handle).ok_or(Error::ContextIsDestroyed)
    }

    /// Creates a stream in it.
    pub fn create_stream(self: &Arc<Self>, kind: Kind, priority: i32) -> Result<Handle> {
        self.check()?;
        let handle = self.context.create_stream(kind, priority)?;
        let stream = Self::own(handle)?;
        let weak = Arc::downgrade(&stream);
        {
            let mut assigned = ASSIGNED.write().unwrap_or_else(PoisonError::into_inner);
            if assigned.streams.len() >= assigned.most {
                assigned.streams.retain(|_, (stream, _)| stream.strong_count() > 0);
                assigned.most = 2 * assigned.streams.len() + 1;
            }
            assigned.streams.insert(stream.id, (Weak::clone(&weak), Arc::clone(self)));
        }
        let mut streams = lock(&self.streams);
        // A full list drops those that are gone, and gets room for twice as many.
        if streams.len() == streams.capacity() {
            streams.retain(|stream| stream.strong_count() > 0);
            let live = streams.len();
            streams.reserve(live + 1);
        }
        streams.push(weak);
        drop(streams);
        Event::order(&self.context, &Self::own(self.entry)?, &stream)?;
        Ok(handle)
    }

    /// Records everything that was submitted to its streams, and to the default stream.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`]: the event is of another context. [`Error::StreamCaptureUnsupported`]: one of
    /// its streams captures, which ends the capture.
    pub fn record(&self, event: &Arc<Event>) -> Result<()> {
        self.check()?;
        if event.context_id != self.context.id() {
            return Err(Error::InvalidHandle);
        }
        self.check_not_capturing()?;
        let gather = Self::own(self.gather)?;
        for stream in self.streams().iter().chain([&self.context.legacy(), &Self::own(self.entry)?]) {
            Event::order(&self.context, stream, &gather)?;
        }
        event.record(&gather)
    }

    /// Fails if one of its streams captures, which ends the capture.
    pub fn check_not_capturing(&self) -> Result<()> {
        self.streams().iter().try_for_each(|stream| stream.check_not_capturing())
    }

    /// Makes everything that is submitted to its streams later wait for an event.
    ///
    /// # Errors
    /// [`Error::StreamCaptureUnsupported`]: as for [`Green::record`].
    pub fn wait(&self, event: &Arc<Event>) -> Result<()> {
        self.check()?;
        self.check_not_capturing()?;
        event.wait_in(&Self::own(self.entry)?)?;
        self.streams().iter().try_for_each(|stream| event.wait_in(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(count: u32, capability: (u32, u32)) -> Arc<Device> {
        Device::new(
            0,
            crate::device::DeviceInfo {
                name: String::new(),
                total_memory: 0,
                multiprocessors: count,
                compute_capability: capability,
                uuid: [0; 16],
                pci: (0, 0, 0),
                clock_khz: 0,
                amd_target: None,
                attributes: Vec::new(),
            },
        )
    }

    /// Multiprocessors, capability, the fewest asked for, each for itself, the most parts; the parts, their
    /// size and the rest. By the manual's table of the smallest parts, and as recorded (`tests/probe`).
    #[test]
    fn equal_parts_are_as_large_as_the_capability_asks() {
        type Row = (u32, (u32, u32), u32, bool, u32, Option<(u32, u32, u32)>);
        const MOST: u32 = u32::MAX;
        let rows: &[Row] = &[
            (132, (9, 0), 0, false, MOST, Some((16, 8, 4))),
            (132, (9, 0), 16, false, MOST, Some((8, 16, 4))),
            (132, (9, 0), 17, false, MOST, Some((5, 24, 12))),
            (132, (9, 0), 16, false, 1, Some((1, 16, 116))),
            (132, (9, 0), 3, true, MOST, Some((33, 4, 0))),
            (132, (9, 0), 131, false, MOST, Some((1, 132, 0))),
            (108, (8, 0), 1, false, MOST, Some((27, 4, 0))),
            (108, (8, 0), 5, false, MOST, Some((18, 6, 0))),
            (80, (7, 0), 1, false, MOST, Some((40, 2, 0))),
            (2, (8, 6), 1, false, MOST, Some((1, 2, 0))),
            (2, (8, 6), 1, true, MOST, Some((2, 1, 0))),
            (132, (9, 0), 133, false, MOST, None),
        ];
        for &(count, capability, least, each, most, expected) in rows {
            let device = device(count, capability);
            let got = split_equally(&device, &Resource::of(&device), least, each, most).ok();
            let shape = got.as_ref().map(|split| {
                let sizes: Vec<u32> = split.parts.iter().map(|part| part.count).collect();
                assert!(sizes.iter().all(|size| *size == sizes[0]), "{sizes:?}");
                (sizes.len() as u32, sizes[0], split.rest.map_or(0, |rest| rest.count))
            });
            assert_eq!(shape, expected, "{count} {capability:?} {least} {each}");
            if let Some(split) = got {
                let again = split_equally(&device, &split.parts[0], 1, false, 1);
                assert_eq!(again, Err(Error::InvalidResourceConfiguration), "a part cannot be split");
            }
        }
    }

    /// The examples in the manual of `cuDevSmResourceSplit`, on a device with 132 multiprocessors.
    #[test]
    fn groups_are_as_large_as_they_ask() {
        let device = device(132, (9, 0));
        let all = Resource::of(&device);
        let group = |count, together, flags| Group { count, together, preferred: 0, flags };
        type Row<'a> = (&'a [Group], Result<(&'a [u32], u32)>);
        let rows: &[Row<'_>] = &[
            (&[group(0, 0, 0)], Ok((&[128], 4))),
            (&[group(10, 2, 0)], Ok((&[10], 122))),
            (&[group(8, 4, 0), group(0, 2, BACKFILL)], Ok((&[8, 124], 0))),
            (&[group(9, 2, BACKFILL)], Ok((&[9], 123))),
            (&[group(9, 2, 0)], Err(Error::InvalidValue)),
            (&[group(8, 64, 0)], Err(Error::InvalidValue)),
            (&[group(8, 4, 2)], Err(Error::InvalidValue)),
            (&[group(136, 8, 0)], Err(Error::InvalidResourceConfiguration)),
            (&[group(132, 2, 0), group(0, 2, 0)], Err(Error::InvalidResourceConfiguration)),
        ];
        for (asked, expected) in rows {
            let mut groups = asked.to_vec();
            let got = split(&device, &all, &mut groups);
            let shape = got.map(|split| {
                let counts: Vec<u32> = split.parts.iter().map(|part| part.count).collect();
                assert_eq!(counts, groups.iter().map(|group| group.count).collect::<Vec<_>>());
                (counts, split.rest.map_or(0, |rest| rest.count))
            });
            assert_eq!(shape, expected.map(|(counts, rest)| (counts.to_vec(), rest)), "{asked:?}");
        }
    }
}
