//! Error codes: their names, and the conversion of the driver's.

use hip::Error;
use hip::error::{name, text};

#[test]
fn codes_find_their_errors_and_names() {
    assert_eq!(Error::from_code(209), Some(Error::NoBinaryForGpu));
    assert_eq!(Error::from_code(14), None);
    assert_eq!(name(400), "hipErrorInvalidHandle\0");
    assert_eq!(name(0), "hipSuccess\0");
    assert_eq!(text(12345), "unknown error\0");
}

#[test]
fn the_drivers_errors_keep_their_numbers_where_hip_has_them() {
    assert_eq!(Error::from(driver::Error::NoBinaryForGpu), Error::NoBinaryForGpu);
    assert_eq!(Error::from(driver::Error::InvalidPtx), Error::InvalidKernelFile);
    assert_eq!(Error::from(driver::Error::MisalignedAddress), Error::LaunchFailure);
    assert_eq!(Error::from(driver::Error::StubLibrary), Error::Unknown);
}
