//! The linker, for PTX and NVIDIA's containers.

use capi::jit::Jit;
use capi::{container, link as links};
use driver::link;

use crate::abi::{In, Out, Text};
use crate::current::{self, Handle};
use crate::{Error, Result, api};

/// `hipJitInputType`: the last of the types that CUDA has too, and those that need AMD's compiler: three
/// kinds of LLVM bitcode, and SPIR-V.
const LAST_OF_CUDA: u32 = 5;
const OF_AMDS_COMPILER: std::ops::RangeInclusive<u32> = 100..=103;

/// Checks the type of an input.
fn check(kind: u32) -> Result<()> {
    match kind {
        0..=LAST_OF_CUDA => Ok(()),
        kind if OF_AMDS_COMPILER.contains(&kind) => {
            capi::named_once("a link input of LLVM bitcode or SPIR-V (which needs AMD's compiler)");
            Err(Error::NotSupported)
        }
        _ => Err(Error::InvalidValue),
    }
}

/// What an input or a link that cannot be linked is reported as.
fn refused(error: driver::Error) -> Error {
    match error {
        driver::Error::OutOfMemory => Error::OutOfMemory,
        _ => Error::InvalidConfiguration,
    }
}

api! {
    /// The options apply to PTX, as on NVIDIA.
    Driver Legal fn hipLinkCreate(count: u32, options: In<u32>, values: Out<u64>, out: Out<Handle>) {
        out.required()?;
        let jit = Jit::read_hip(count, options, values)?;
        out.set(links::create(&*current::driver_context()?, jit)?);
        Ok(())
    }

    Device Legal fn hipLinkAddData(
        handle: Handle, kind: u32, data: u64, size: usize, name: Text, count: u32, options: In<u32>,
        values: Out<u64>,
    ) {
        if data == 0 || size == 0 {
            return Err(Error::InvalidImage);
        }
        check(kind)?;
        link::get(handle).map_err(|_| Error::InvalidHandle)?;
        let call = Jit::read_hip(count, options, values)?;
        let name = name.bytes().map(String::from_utf8_lossy).unwrap_or_default();
        links::add(handle, kind, container::declared(data, size)?, &name, &call).map_err(refused)
    }

    /// A file that cannot be read is an invalid configuration, like one that cannot be linked.
    Device Legal fn hipLinkAddFile(
        handle: Handle, kind: u32, path: Text, count: u32, options: In<u32>, values: Out<u64>,
    ) {
        if handle == 0 {
            return Err(Error::InvalidHandle);
        }
        check(kind)?;
        link::get(handle).map_err(|_| Error::InvalidValue)?;
        let name = String::from_utf8_lossy(path.bytes()?);
        let call = Jit::read_hip(count, options, values)?;
        let bytes = container::file(path).map_err(refused)?;
        links::add(handle, kind, &bytes, &name, &call).map_err(refused)
    }

    Device Legal fn hipLinkComplete(handle: Handle, image: Out<u64>, size: Out<usize>) {
        image.required()?;
        size.required()?;
        link::get(handle).map_err(|_| Error::InvalidValue)?;
        let (at, length) = links::complete(handle).map_err(refused)?;
        image.set(at);
        size.set(length);
        Ok(())
    }

    Device Legal fn hipLinkDestroy(handle: Handle) {
        links::destroy(handle).map_err(|_| Error::InvalidValue)
    }
}
