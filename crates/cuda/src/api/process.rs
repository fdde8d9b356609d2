//! The driver's log, checkpoints of the process, core dumps and notifications.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use driver::callback::{self, Event};
use driver::checkpoint::other::Transition;
use driver::coredump::{self, Value};
use driver::history::{self, Receiver};
use driver::{Error, Result, checkpoint, driver};

use crate::abi::{In, Out, Text, bytes_at};
use crate::api;
use crate::api::current;
use crate::types::{CUdevice, Handle};

/// Arguments that are reserved must be absent or zero.
fn reserved<const N: usize>(arguments: In<[u64; N]>) -> Result<()> {
    if arguments.is_null() || arguments.get()? == [0; N] { Ok(()) } else { Err(Error::InvalidValue) }
}

/// `CUcheckpointRestoreArgs`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct RestoreArguments {
    pub pairs: In<[[u8; 16]; 2]>,
    pub count: u32,
    pub reserved: [u8; 44],
    pub more: u64,
}

/// Devices can be restored only as themselves; a list of pairs must have all of them.
fn check_pairs(arguments: In<RestoreArguments>) -> Result<()> {
    if arguments.is_null() {
        return Ok(());
    }
    let RestoreArguments { pairs, count, reserved, more } = arguments.get()?;
    if reserved != [0; 44] || more != 0 {
        return Err(Error::InvalidValue);
    }
    let devices = &driver()?.devices;
    let pairs = if count as usize <= devices.len() { pairs.list(count as usize)? } else { Vec::new() };
    let all = devices.iter().all(|device| pairs.iter().any(|pair| pair[0] == device.info.uuid));
    let known = pairs.iter().flatten().all(|uuid| devices.iter().any(|device| device.info.uuid == *uuid));
    match count {
        0 => Ok(()),
        _ if !all || !known => Err(Error::InvalidValue),
        _ if pairs.iter().all(|pair| pair[0] == pair[1]) => Ok(()),
        _ => Err(Error::NotSupported),
    }
}

fn get_setting(context: Option<u64>, number: u32, value: Out<u8>, size: Out<usize>) -> Result<()> {
    size.required()?;
    let set = coredump::get(context, number)?;
    if value.is_null() {
        size.set(set.size());
        return Ok(());
    }
    let room = size.read()?;
    match set {
        Value::Truth(truth) if room == 1 => value.set(u8::from(truth)),
        Value::Flags(flags) if room == 4 => value.set_all(&flags.to_ne_bytes()),
        // A name is cut off where the room ends.
        Value::Name(name) => {
            let whole = [&name[..], &[0]].concat();
            value.set_all(whole.get(..room).unwrap_or(&whole));
        }
        _ => return Err(Error::InvalidValue),
    }
    Ok(())
}

fn set_setting(context: Option<u64>, number: u32, value: In<u8>, size: Out<usize>) -> Result<()> {
    size.required()?;
    let set = coredump::get(context, number)?;
    if value.is_null() {
        size.set(set.size());
        return Ok(());
    }
    let room = size.read()?;
    let new = match set {
        Value::Truth(_) if room == 1 => Value::Truth(value.get()? != 0),
        Value::Flags(_) if room == 4 => Value::Flags(In::<u32>::at_address(value.address()).get()?),
        Value::Name(_) if room <= coredump::NAME => {
            let bytes = bytes_at(value.address(), room);
            Value::Name(bytes.iter().copied().take_while(|byte| *byte != 0).collect())
        }
        _ => return Err(Error::InvalidValue),
    };
    coredump::set(context, number, new)
}

fn register(event: Event, function: u64, out: Out<Handle>) -> Result<()> {
    if function == 0 {
        return Err(Error::InvalidValue);
    }
    out.set(callback::register(event)?);
    Ok(())
}

api! {
    Nothing Legal fn cuLogsRegisterCallback(function: Option<Receiver>, data: u64, out: Out<Handle>) {
        out.set(history::register(function.ok_or(Error::InvalidValue)?, data)?);
        Ok(())
    }

    Nothing Legal fn cuLogsUnregisterCallback(handle: Handle) {
        history::unregister(handle)
    }

    /// Flags are ignored, here and below.
    Nothing Legal fn cuLogsCurrent(out: Out<u32>, _flags: u32) {
        out.required()?;
        out.set(history::current());
        Ok(())
    }

    Nothing Legal fn cuLogsDumpToFile(from: Out<u32>, path: Text, _flags: u32) {
        let path = Path::new(std::ffi::OsStr::from_bytes(path.name()?));
        let first = if from.is_null() { None } else { Some(from.read()?) };
        from.set(history::write(first, path)?);
        Ok(())
    }

    Nothing Legal fn cuLogsDumpToMemory(from: Out<u32>, buffer: Out<u8>, size: Out<usize>, _flags: u32) {
        buffer.required()?;
        let room = size.read()?;
        let first = if from.is_null() { None } else { Some(from.read()?) };
        let text = room.checked_sub(1).ok_or(Error::InvalidValue).and_then(|room| history::lines(first, room));
        let (text, next) = text.inspect_err(|_| size.set(0))?;
        buffer.set_all(text.as_bytes());
        buffer.after(text.len()).set(0);
        size.set(text.len());
        from.set(next);
        Ok(())
    }

    Nothing Legal fn cuCheckpointProcessGetRestoreThreadId(process: i32, thread: Out<i32>) {
        thread.required()?;
        thread.set(checkpoint::find(process)?.thread()? as i32);
        Ok(())
    }

    Nothing Legal fn cuCheckpointProcessGetState(process: i32, state: Out<u32>) {
        state.required()?;
        state.set(checkpoint::find(process)?.state());
        Ok(())
    }

    /// The arguments are a time in milliseconds, 0 for none, and zeros. Calls on a locked process do not
    /// wait.
    Nothing Legal fn cuCheckpointProcessLock(process: i32, arguments: In<[u64; 8]>) {
        let target = checkpoint::find(process)?;
        let words = if arguments.is_null() { [0; 8] } else { arguments.get()? };
        let limit = u32::try_from(words[0]).map_err(|_| Error::InvalidValue)?;
        if words[1..] != [0; 7] {
            return Err(Error::InvalidValue);
        }
        target.change(Transition::Lock, (limit != 0).then(|| Duration::from_millis(u64::from(limit))))
    }

    Nothing Legal fn cuCheckpointProcessCheckpoint(process: i32, arguments: In<[u64; 8]>) {
        let target = checkpoint::find(process)?;
        reserved(arguments)?;
        target.change(Transition::Checkpoint, None)
    }

    Nothing Legal fn cuCheckpointProcessRestore(process: i32, arguments: In<RestoreArguments>) {
        let target = checkpoint::find(process)?;
        check_pairs(arguments)?;
        target.change(Transition::Restore, None)
    }

    Nothing Legal fn cuCheckpointProcessUnlock(process: i32, arguments: In<[u64; 8]>) {
        let target = checkpoint::find(process)?;
        reserved(arguments)?;
        target.change(Transition::Unlock, None)
    }

    Context Legal fn cuCoredumpGetAttribute(setting: u32, value: Out<u8>, size: Out<usize>) {
        get_setting(Some(current()?.id()), setting, value, size)
    }

    Nothing Legal fn cuCoredumpGetAttributeGlobal(setting: u32, value: Out<u8>, size: Out<usize>) {
        get_setting(None, setting, value, size)
    }

    Context Legal fn cuCoredumpSetAttribute(setting: u32, value: In<u8>, size: Out<usize>) {
        set_setting(Some(current()?.id()), setting, value, size)
    }

    Nothing Legal fn cuCoredumpSetAttributeGlobal(setting: u32, value: In<u8>, size: Out<usize>) {
        set_setting(None, setting, value, size)
    }

    Init Legal fn cuCoredumpRegisterStartCallback(function: u64, _data: u64, out: Out<Handle>) {
        register(Event::DumpBegins, function, out)
    }

    Init Legal fn cuCoredumpRegisterCompleteCallback(function: u64, _data: u64, out: Out<Handle>) {
        register(Event::DumpEnds, function, out)
    }

    Init Legal fn cuCoredumpDeregisterStartCallback(handle: Handle) {
        callback::unregister(Event::DumpBegins, handle)
    }

    Init Legal fn cuCoredumpDeregisterCompleteCallback(handle: Handle) {
        callback::unregister(Event::DumpEnds, handle)
    }

    /// Notifications tell of a memory budget, which no process has here.
    Init Legal fn cuDeviceRegisterAsyncNotification(
        device: CUdevice, function: u64, _data: u64, out: Out<Handle>,
    ) {
        let device = driver()?.device(device)?.ordinal;
        out.required()?;
        register(Event::OfDevice(device), function, out)
    }

    Init Legal fn cuDeviceUnregisterAsyncNotification(device: CUdevice, handle: Handle) {
        callback::unregister(Event::OfDevice(driver()?.device(device)?.ordinal), handle)
    }
}
