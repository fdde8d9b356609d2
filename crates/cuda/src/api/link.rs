//! The linker.

use capi::jit::Jit;
use capi::{container, link as links};
use driver::{Error, link};

use crate::abi::{In, Out, Text};
use crate::api;
use crate::api::current;
use crate::types::Handle;

api! {
    Context Legal fn cuLinkCreate / cuLinkCreate_v2 (
        count: u32, options: In<u32>, values: Out<u64>, out: Out<Handle>,
    ) {
        out.required()?;
        let jit = Jit::read(count, options, values)?;
        out.set(links::create(&*current()?, jit)?);
        Ok(())
    }

    Context Legal fn cuLinkAddData / cuLinkAddData_v2 (
        handle: Handle, kind: u32, data: u64, size: usize, name: Text, count: u32, options: In<u32>,
        values: Out<u64>,
    ) {
        link::get(handle)?;
        if data == 0 || size == 0 {
            return Err(Error::InvalidValue);
        }
        let call = Jit::read(count, options, values)?;
        let name = name.bytes().map(String::from_utf8_lossy).unwrap_or_default();
        links::add(handle, kind, container::declared(data, size)?, &name, &call)
    }

    Context Legal fn cuLinkAddFile / cuLinkAddFile_v2 (
        handle: Handle, kind: u32, path: Text, count: u32, options: In<u32>, values: Out<u64>,
    ) {
        link::get(handle)?;
        let call = Jit::read(count, options, values)?;
        let bytes = container::file(path)?;
        links::add(handle, kind, &bytes, &String::from_utf8_lossy(path.bytes()?), &call)
    }

    Context Legal fn cuLinkComplete(handle: Handle, image: Out<u64>, size: Out<usize>) {
        link::get(handle)?;
        image.required()?;
        let (at, length) = links::complete(handle)?;
        image.set(at);
        size.set(length);
        Ok(())
    }

    Context Legal fn cuLinkDestroy(handle: Handle) {
        links::destroy(handle)
    }
}
