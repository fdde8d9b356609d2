//! Initialisation and versions.

use crate::abi::Out;
use crate::{Error, api};

/// The implemented `HIP_VERSION`: major * 10,000,000 + minor * 100,000 + patch.
const VERSION: i32 = 60_300_000;

api! {
    Device Legal fn hipInit(flags: u32) {
        if flags == 0 { Ok(()) } else { Err(Error::InvalidValue) }
    }

    Nothing Legal fn hipDriverGetVersion(version: Out<i32>) {
        version.required()?.set(VERSION);
        Ok(())
    }

    Nothing Legal fn hipRuntimeGetVersion(version: Out<i32>) {
        version.required()?.set(VERSION);
        Ok(())
    }
}
