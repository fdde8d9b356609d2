//! Interoperation with graphics and video interfaces, of which this driver has none.
//!
//! What would make or find a shared object checks its arguments, logs its name and fails as the hardware's
//! driver does on a machine without such an interface. A handle of such an object is invalid.

use driver::{Error, Result, driver};

use crate::abi::unsupported;
use crate::api;
use crate::types::CUdevice;

/// `CUgraphicsRegisterFlags`, alone or together.
const REGISTER_FLAGS: u32 = 0xf;
/// OpenGL's targets that the manual of `cuGraphicsGLRegisterImage` names: textures of two dimensions,
/// rectangles, cubes, of three dimensions, arrays of two; renderbuffers.
const GL_TARGETS: [u32; 6] = [0x0de1, 0x84f5, 0x8513, 0x806f, 0x8c1a, 0x8d41];

/// Logs the function's name and fails with `answer`; with [`Error::InvalidValue`] if an argument is wrong.
fn refuse(name: &'static str, right: bool, answer: Error) -> Result<()> {
    if !right {
        return Err(Error::InvalidValue);
    }
    unsupported(name);
    Err(answer)
}

/// Refuses a context for an interface.
fn refuse_context(name: &'static str, out: u64, device: CUdevice, answer: Error) -> Result<()> {
    if out != 0 {
        driver()?.device(device)?;
    }
    refuse(name, out != 0, answer)
}

api! {
    Nothing Unsafe fn cuEGLStreamConsumerConnect(_out: u64, _stream: u64) {
        refuse("cuEGLStreamConsumerConnect", true, Error::InvalidHandle)
    }

    Nothing Unsafe fn cuEGLStreamConsumerConnectWithFlags(_out: u64, _stream: u64, _flags: u32) {
        refuse("cuEGLStreamConsumerConnectWithFlags", true, Error::InvalidHandle)
    }

    Nothing Unsafe fn cuEGLStreamProducerConnect(_out: u64, _stream: u64, _width: i32, _height: i32) {
        refuse("cuEGLStreamProducerConnect", true, Error::InvalidHandle)
    }

    Context Unsafe fn cuEGLStreamConsumerDisconnect(_connection: u64) {
        Err(Error::InvalidHandle)
    }

    Context Unsafe fn cuEGLStreamConsumerAcquireFrame(
        _connection: u64, _resource: u64, _stream: u64, _timeout: u32,
    ) {
        Err(Error::InvalidHandle)
    }

    Context Unsafe fn cuEGLStreamConsumerReleaseFrame(_connection: u64, _resource: u64, _stream: u64) {
        Err(Error::InvalidHandle)
    }

    Context Unsafe fn cuEGLStreamProducerDisconnect(_connection: u64) {
        Err(Error::InvalidHandle)
    }

    Context Unsafe fn cuEGLStreamProducerPresentFrame(_connection: u64, _frame: u64, _stream: u64) {
        Err(Error::InvalidHandle)
    }

    Context Unsafe fn cuEGLStreamProducerReturnFrame(_connection: u64, _frame: u64, _stream: u64) {
        Err(Error::InvalidHandle)
    }

    Init Unsafe fn cuEGLApiInit() {
        refuse("cuEGLApiInit", true, Error::NotSupported)
    }

    Context Unsafe fn cuGraphicsEGLRegisterImage(out: u64, _image: u64, _flags: u32) {
        refuse("cuGraphicsEGLRegisterImage", out != 0, Error::Unknown)
    }

    Context Unsafe fn cuGLInit() {
        refuse("cuGLInit", true, Error::OperatingSystem)
    }

    Init Unsafe fn cuGLCtxCreate(out: u64, _flags: u32, device: CUdevice) {
        refuse_context("cuGLCtxCreate", out, device, Error::OperatingSystem)
    }

    Init Unsafe fn cuGLGetDevices(_count: u64, _devices: u64, _most: u32, _list: u32) {
        refuse("cuGLGetDevices", true, Error::OperatingSystem)
    }

    Init Unsafe fn cuGLCtxCreate_v2(out: u64, _flags: u32, device: CUdevice) {
        refuse_context("cuGLCtxCreate_v2", out, device, Error::OperatingSystem)
    }

    Init Unsafe fn cuGLGetDevices_v2(_count: u64, _devices: u64, _most: u32, _list: u32) {
        refuse("cuGLGetDevices_v2", true, Error::OperatingSystem)
    }

    Context Unsafe fn cuGLRegisterBufferObject(_buffer: u32) {
        refuse("cuGLRegisterBufferObject", true, Error::OperatingSystem)
    }

    Context Unsafe fn cuGLSetBufferObjectMapFlags(_buffer: u32, _flags: u32) {
        refuse("cuGLSetBufferObjectMapFlags", true, Error::InvalidValue)
    }

    Context Unsafe fn cuGLMapBufferObject(_out: u64, _size: u64, _buffer: u32) {
        refuse("cuGLMapBufferObject", true, Error::InvalidContext)
    }

    Context Invalidates fn cuGLMapBufferObject_v2 / cuGLMapBufferObject_v2_ptds (
        _out: u64, _size: u64, _buffer: u32,
    ) {
        refuse("cuGLMapBufferObject_v2", true, Error::InvalidValue)
    }

    Context Unsafe fn cuGLMapBufferObjectAsync(_out: u64, _size: u64, _buffer: u32, _stream: u64) {
        refuse("cuGLMapBufferObjectAsync", true, Error::InvalidContext)
    }

    Context Invalidates fn cuGLMapBufferObjectAsync_v2 / cuGLMapBufferObjectAsync_v2_ptsz (
        _out: u64, _size: u64, _buffer: u32, _stream: u64,
    ) {
        refuse("cuGLMapBufferObjectAsync_v2", true, Error::InvalidValue)
    }

    Context Unsafe fn cuGLUnmapBufferObject(_buffer: u32) {
        refuse("cuGLUnmapBufferObject", true, Error::InvalidValue)
    }

    Context Unsafe fn cuGLUnmapBufferObjectAsync(_buffer: u32, _stream: u64) {
        refuse("cuGLUnmapBufferObjectAsync", true, Error::InvalidValue)
    }

    Context Unsafe fn cuGLUnregisterBufferObject(_buffer: u32) {
        refuse("cuGLUnregisterBufferObject", true, Error::InvalidValue)
    }

    Context Unsafe fn cuGraphicsGLRegisterBuffer(out: u64, buffer: u32, flags: u32) {
        let right = out != 0 && buffer != 0 && flags & !REGISTER_FLAGS == 0;
        refuse("cuGraphicsGLRegisterBuffer", right, Error::OperatingSystem)
    }

    Context Unsafe fn cuGraphicsGLRegisterImage(out: u64, _image: u32, target: u32, flags: u32) {
        let right = out != 0 && GL_TARGETS.contains(&target) && flags & !REGISTER_FLAGS == 0;
        refuse("cuGraphicsGLRegisterImage", right, Error::OperatingSystem)
    }

    Context Legal fn cuGraphicsResourceGetMappedEglFrame(
        _frame: u64, _resource: u64, _index: u32, _level: u32,
    ) {
        Err(Error::InvalidHandle)
    }

    Context Legal fn cuGraphicsResourceGetMappedMipmappedArray(_out: u64, _resource: u64) {
        Err(Error::InvalidHandle)
    }

    Context Legal fn cuGraphicsResourceGetMappedPointer(_out: u64, _size: u64, _resource: u64) {
        Err(Error::InvalidHandle)
    }

    Context Legal fn cuGraphicsResourceSetMapFlags(_resource: u64, _flags: u32) {
        Err(Error::InvalidHandle)
    }

    Context Legal fn cuGraphicsResourceGetMappedPointer_v2(_out: u64, _size: u64, _resource: u64) {
        Err(Error::InvalidHandle)
    }

    Context Legal fn cuGraphicsResourceSetMapFlags_v2(_resource: u64, _flags: u32) {
        Err(Error::InvalidHandle)
    }

    Context Legal fn cuGraphicsSubResourceGetMappedArray(
        _out: u64, _resource: u64, _index: u32, _level: u32,
    ) {
        Err(Error::InvalidHandle)
    }

    Context Unsafe fn cuGraphicsVDPAURegisterOutputSurface(_out: u64, _surface: u32, _flags: u32) {
        refuse("cuGraphicsVDPAURegisterOutputSurface", true, Error::InvalidContext)
    }

    Context Unsafe fn cuGraphicsVDPAURegisterVideoSurface(_out: u64, _surface: u32, _flags: u32) {
        refuse("cuGraphicsVDPAURegisterVideoSurface", true, Error::InvalidContext)
    }

    Init Unsafe fn cuVDPAUCtxCreate(
        out: u64, _flags: u32, device: CUdevice, _display: u32, _functions: u64,
    ) {
        refuse_context("cuVDPAUCtxCreate", out, device, Error::OutOfMemory)
    }

    Init Unsafe fn cuVDPAUCtxCreate_v2(
        out: u64, _flags: u32, device: CUdevice, _display: u32, _functions: u64,
    ) {
        refuse_context("cuVDPAUCtxCreate_v2", out, device, Error::NotSupported)
    }

    Init Unsafe fn cuVDPAUGetDevice(_out: u64, _display: u32, _functions: u64) {
        refuse("cuVDPAUGetDevice", true, Error::InvalidValue)
    }

    Init Legal fn cuDeviceGetNvSciSyncAttributes(_list: u64, _device: CUdevice, _flags: i32) {
        refuse("cuDeviceGetNvSciSyncAttributes", true, Error::InvalidHandle)
    }
}
