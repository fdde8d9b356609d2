//! Pointer attributes.

use capi::pointer::{Attribute, SYNC_MEMOPS, attribute, set_synchronous};
use driver::{Error, Result, memory};

use crate::abi::{In, Out};
use crate::api;
use crate::types::CUdeviceptr;

api! {
    Init Legal fn cuPointerGetAttribute(place: Out<u8>, number: u32, address: CUdeviceptr) {
        place.required()?;
        let Attribute { size, value, .. } = attribute(number)?;
        let allocation = memory::find(address).filter(|a| a.is_present()).ok_or(Error::InvalidValue)?;
        size.write(place, value(&allocation, address).ok_or(Error::InvalidValue)?);
        Ok(())
    }

    /// An unknown address is not an error here.
    Init Legal fn cuPointerGetAttributes(
        count: u32, numbers: In<u32>, places: In<Out<u8>>, address: CUdeviceptr,
    ) {
        if count == 0 {
            return Err(Error::InvalidValue);
        }
        let count = count as usize;
        let attributes = numbers.each(count).map(|number| attribute(number?));
        let attributes = attributes.collect::<Result<Vec<Attribute>>>()?;
        let allocation = memory::find(address).filter(|a| a.is_present());
        for (attribute, place) in attributes.into_iter().zip(places.each(count)) {
            let known = allocation.as_ref().and_then(|a| (attribute.value)(a, address));
            attribute.size.write(place?.required()?, known.unwrap_or(attribute.unknown));
        }
        Ok(())
    }

    /// The only attribute that can be set is the one for synchronous memory operations.
    Init Legal fn cuPointerSetAttribute(value: In<u32>, number: u32, address: CUdeviceptr) {
        let value = value.get()?;
        if number != SYNC_MEMOPS {
            return Err(Error::InvalidValue);
        }
        set_synchronous(address, value != 0).ok_or(Error::InvalidValue)
    }
}
