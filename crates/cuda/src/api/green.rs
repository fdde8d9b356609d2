//! Green contexts and the parts of a device that they own.

use std::sync::Arc;

use driver::device::Device;
use driver::green::{self, Group, Resource, Split};
use driver::stream::Kind;
use driver::{Error, Result, context, driver, event};

use crate::abi::{In, Out};
use crate::api;
use crate::api::{check_default, stream};
use crate::types::{CUdevice, DevResource, DevResourceGroup, Handle, stream as special};

/// `CU_DEV_RESOURCE_TYPE_INVALID`.
const NOTHING: u32 = 0;
/// `CU_DEV_RESOURCE_TYPE_SM`, the only type of driver 13.0.
const MULTIPROCESSORS: u32 = 1;
/// Tells the driver's resources from other bytes.
const MARK: u32 = 0x6772_6565;

/// `CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING`.
const EACH: u32 = 1;
/// The flags that a split takes: none, one of `CUdevSmResourceSplitByCount_flags` (the other one asks for
/// large clusters, which any part can have), and one that the hardware's driver accepts without effect.
const SPLIT_FLAGS: [u32; 4] = [0, EACH, 2, 4];
/// `CU_GREEN_CTX_DEFAULT_STREAM`, which is required.
const DEFAULT_STREAM: u32 = 1;
/// `CU_STREAM_NON_BLOCKING`, which is required.
const NON_BLOCKING: u32 = 1;
/// The maximum number of groups or resources in a call: no device has more multiprocessors.
const MOST: u32 = 1 << 16;

impl DevResource {
    /// What stands for no multiprocessors.
    const NONE: DevResource = DevResource {
        kind: NOTHING,
        mark: 0,
        device: 0,
        split: [0; 2],
        padding: [0; 19],
        multiprocessors: 0,
        smallest_part: 0,
        scheduled_together: 0,
        flags: 0,
        rest: [0; 8],
    };

    /// The resource that the driver wrote.
    fn read(self) -> Result<Resource> {
        if self.kind != MULTIPROCESSORS {
            return Err(Error::InvalidResourceType);
        }
        if self.mark != MARK {
            return Err(Error::InvalidResourceConfiguration);
        }
        let [smallest, together, ..] = self.padding;
        Ok(Resource {
            device: self.device,
            count: self.multiprocessors,
            smallest,
            together: together.max(1),
            flags: self.flags,
            split: u64::from(self.split[1]) << 32 | u64::from(self.split[0]),
        })
    }
}

impl From<Resource> for DevResource {
    fn from(r: Resource) -> Self {
        DevResource {
            kind: MULTIPROCESSORS,
            mark: MARK,
            device: r.device,
            split: [r.split as u32, (r.split >> 32) as u32],
            // The program can be shown others: `unsaid`.
            padding: std::array::from_fn(|i| [r.smallest, r.together].get(i).copied().unwrap_or(0)),
            multiprocessors: r.count,
            smallest_part: r.smallest,
            scheduled_together: r.together,
            flags: r.flags,
            ..DevResource::NONE
        }
    }
}

fn give(out: Out<DevResource>, kind: u32, resource: impl FnOnce() -> Result<Resource>) -> Result<()> {
    out.required()?;
    if kind != MULTIPROCESSORS {
        return Err(Error::InvalidResourceType);
    }
    out.set(resource()?.into());
    Ok(())
}

/// A part without the numbers that say how it can be split: a split by count leaves them 0.
fn unsaid(part: Resource) -> DevResource {
    DevResource { smallest_part: 0, scheduled_together: 0, ..part.into() }
}

/// Writes the parts and the rest of a split as `describe` says.
fn give_split(
    parts: Out<DevResource>,
    rest: Out<DevResource>,
    split: &Split,
    describe: impl Fn(Resource) -> DevResource,
) {
    parts.set_all(&split.parts.iter().map(|part| describe(*part)).collect::<Vec<_>>());
    rest.set(split.rest.map_or(DevResource::NONE, describe));
}

fn device_of(ordinal: u32) -> Result<Arc<Device>> {
    driver()?.device(ordinal as i32).cloned()
}

/// A resource of the program, and its device.
fn input(resource: In<DevResource>) -> Result<(Arc<Device>, Resource)> {
    let resource = resource.get()?.read()?;
    Ok((device_of(resource.device).map_err(|_| Error::InvalidValue)?, resource))
}

/// The resource of a context, which may be the view of a green one.
fn of_context(handle: Handle) -> Result<Resource> {
    match green::viewed(handle) {
        Some(green) => Ok(green.resource),
        None => Ok(Resource::of(&context::get(handle)?.device)),
    }
}

api! {
    Init Legal fn cuDeviceGetDevResource(device: CUdevice, out: Out<DevResource>, kind: u32) {
        let device = driver()?.device(device)?;
        give(out, kind, || Ok(Resource::of(device)))
    }

    Context Legal fn cuCtxGetDevResource(handle: Handle, out: Out<DevResource>, kind: u32) {
        let resource = of_context(handle)?;
        give(out, kind, || Ok(resource))
    }

    Init Legal fn cuGreenCtxGetDevResource(handle: Handle, out: Out<DevResource>, kind: u32) {
        let green = green::get(handle)?;
        give(out, kind, || Ok(green.resource))
    }

    Object Legal fn cuStreamGetDevResource / cuStreamGetDevResource_ptsz (
        in_stream: Handle, out: Out<DevResource>, kind: u32,
    ) |own| {
        let stream = stream(in_stream, own)?;
        let share = green::share_of(&stream);
        give(out, kind, || match share {
            Some(green) => Ok(green.resource),
            None => Ok(Resource::of(&stream.context()?.device)),
        })
    }

    Init Legal fn cuDevSmResourceSplitByCount(
        parts: Out<DevResource>, count: Out<u32>, from: In<DevResource>, rest: Out<DevResource>, flags: u32,
        least: u32,
    ) {
        let most = if parts.is_null() { count.required().map(|_| MOST)? } else { count.read()? };
        let (device, from) = input(from)?;
        if !SPLIT_FLAGS.contains(&flags) || most == 0 {
            return Err(Error::InvalidValue);
        }
        let split = green::split_equally(&device, &from, least, flags & EACH != 0, most.min(MOST))?;
        if !parts.is_null() {
            give_split(parts, rest, &split, unsaid);
        }
        count.set(split.parts.len() as u32);
        Ok(())
    }

    Init Legal fn cuDevSmResourceSplit(
        parts: Out<DevResource>, count: u32, from: In<DevResource>, rest: Out<DevResource>, flags: u32,
        groups: Out<DevResourceGroup>,
    ) {
        groups.required()?;
        let (device, from) = input(from)?;
        if flags != 0 || count == 0 || count > MOST {
            return Err(Error::InvalidValue);
        }
        let mut asked = Vec::new();
        for i in 0..count as usize {
            let DevResourceGroup { multiprocessors, scheduled_together, preferred_together, flags, reserved } =
                groups.after(i).read()?;
            if reserved != [0; 12] {
                return Err(Error::InvalidValue);
            }
            let (together, preferred) = (scheduled_together, preferred_together);
            asked.push(Group { count: multiprocessors, together, preferred, flags });
        }
        let split = green::split(&device, &from, &mut asked)?;
        for (i, group) in asked.iter().enumerate() {
            groups.after(i).set(DevResourceGroup {
                multiprocessors: group.count,
                scheduled_together: group.together,
                preferred_together: group.preferred,
                flags: group.flags,
                reserved: [0; 12],
            });
        }
        give_split(parts, rest, &split, DevResource::from);
        Ok(())
    }

    Init Legal fn cuDevResourceGenerateDesc(out: Out<Handle>, resources: In<DevResource>, count: u32) {
        out.required()?;
        if count == 0 || count > MOST {
            return Err(Error::InvalidValue);
        }
        let parts = resources.list(count as usize)?.into_iter().map(DevResource::read);
        out.set(green::describe(&parts.collect::<Result<Vec<_>>>()?, device_of)?);
        Ok(())
    }

    Init Unsafe fn cuGreenCtxCreate(out: Out<Handle>, description: Handle, device: CUdevice, flags: u32) {
        out.required()?;
        if flags != DEFAULT_STREAM {
            return Err(Error::InvalidValue);
        }
        out.set(green::create(description, driver()?.device(device)?)?);
        Ok(())
    }

    Init Unsafe fn cuGreenCtxDestroy(handle: Handle) {
        green::destroy(handle)
    }

    Init Legal fn cuCtxFromGreenCtx(out: Out<Handle>, handle: Handle) {
        let green = green::get(handle)?;
        out.required()?.set(green.handle());
        Ok(())
    }

    Init Invalidates fn cuGreenCtxRecordEvent(handle: Handle, event: Handle) {
        green::get(handle)?.record(&event::get(event)?)
    }

    Init Invalidates fn cuGreenCtxWaitEvent(handle: Handle, event: Handle) {
        green::get(handle)?.wait(&event::get(event)?)
    }

    Init Legal fn cuGreenCtxStreamCreate(out: Out<Handle>, handle: Handle, flags: u32, priority: i32) {
        let green = green::get(handle)?;
        out.required()?;
        if flags != NON_BLOCKING {
            return Err(Error::InvalidValue);
        }
        out.set(green.create_stream(Kind::NonBlocking, priority.min(0))?);
        Ok(())
    }

    Init Legal fn cuGreenCtxGetId(handle: Handle, id: Out<u64>) {
        let green = match handle {
            0 => context::current_green().ok_or(Error::InvalidContext)?,
            _ => green::get(handle)?,
        };
        green.check()?;
        id.required()?.set(green.id);
        Ok(())
    }

    Object Legal fn cuStreamGetGreenCtx(in_stream: Handle, out: Out<Handle>) {
        check_default(in_stream)?;
        if in_stream == special::PER_THREAD {
            return Err(Error::InvalidHandle);
        }
        let stream = stream(in_stream, false)?;
        out.required()?.set(green::share_of(&stream).map_or(0, |green| green.handle()));
        Ok(())
    }
}
