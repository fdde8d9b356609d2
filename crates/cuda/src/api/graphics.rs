//! Interoperation with graphics and video interfaces, of which this driver has none.
//!
//! What would make or find a shared object is refused: the function checks that its pointers are not null,
//! logs its name and returns [`Error::NotSupported`]. A handle of such an object is invalid.

use driver::{Error, Result, driver};

use crate::abi::unsupported;
use crate::api;
use crate::types::CUdevice;

/// [`Error::InvalidValue`] if a required pointer is null, else refuses the call.
fn refuse(name: &'static str, required: &[u64]) -> Result<()> {
    if required.contains(&0) {
        return Err(Error::InvalidValue);
    }
    unsupported(name);
    Err(Error::NotSupported)
}

api! {
    Context Unsafe fn cuEGLStreamConsumerConnect(out: u64, stream: u64) {
        refuse("cuEGLStreamConsumerConnect", &[out, stream])
    }

    Context Unsafe fn cuEGLStreamConsumerConnectWithFlags(out: u64, stream: u64, _flags: u32) {
        refuse("cuEGLStreamConsumerConnectWithFlags", &[out, stream])
    }

    Context Unsafe fn cuEGLStreamProducerConnect(out: u64, stream: u64, _width: i32, _height: i32) {
        refuse("cuEGLStreamProducerConnect", &[out, stream])
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
        refuse("cuEGLApiInit", &[])
    }

    Context Unsafe fn cuGraphicsEGLRegisterImage(out: u64, image: u64, _flags: u32) {
        refuse("cuGraphicsEGLRegisterImage", &[out, image])
    }

    Context Unsafe fn cuGLInit() {
        refuse("cuGLInit", &[])
    }

    Init Unsafe fn cuGLCtxCreate(out: u64, _flags: u32, _device: CUdevice) {
        refuse("cuGLCtxCreate", &[out])
    }

    Init Unsafe fn cuGLGetDevices(count: u64, devices: u64, _most: u32, _list: u32) {
        refuse("cuGLGetDevices", &[count, devices])
    }

    Init Unsafe fn cuGLCtxCreate_v2(out: u64, _flags: u32, _device: CUdevice) {
        refuse("cuGLCtxCreate_v2", &[out])
    }

    Init Unsafe fn cuGLGetDevices_v2(count: u64, devices: u64, _most: u32, _list: u32) {
        refuse("cuGLGetDevices_v2", &[count, devices])
    }

    Context Unsafe fn cuGLRegisterBufferObject(_buffer: u32) {
        refuse("cuGLRegisterBufferObject", &[])
    }

    Context Unsafe fn cuGLSetBufferObjectMapFlags(_buffer: u32, _flags: u32) {
        refuse("cuGLSetBufferObjectMapFlags", &[])
    }

    Context Unsafe fn cuGLMapBufferObject(_out: u64, _size: u64, _buffer: u32) {
        refuse("cuGLMapBufferObject", &[])
    }

    Context Invalidates fn cuGLMapBufferObject_v2 / cuGLMapBufferObject_v2_ptds (
        out: u64, size: u64, _buffer: u32,
    ) {
        refuse("cuGLMapBufferObject_v2", &[out, size])
    }

    Context Unsafe fn cuGLMapBufferObjectAsync(out: u64, size: u64, _buffer: u32, _stream: u64) {
        refuse("cuGLMapBufferObjectAsync", &[out, size])
    }

    Context Invalidates fn cuGLMapBufferObjectAsync_v2 / cuGLMapBufferObjectAsync_v2_ptsz (
        out: u64, size: u64, _buffer: u32, _stream: u64,
    ) {
        refuse("cuGLMapBufferObjectAsync_v2", &[out, size])
    }

    Context Unsafe fn cuGLUnmapBufferObject(_buffer: u32) {
        refuse("cuGLUnmapBufferObject", &[])
    }

    Context Unsafe fn cuGLUnmapBufferObjectAsync(_buffer: u32, _stream: u64) {
        refuse("cuGLUnmapBufferObjectAsync", &[])
    }

    Context Unsafe fn cuGLUnregisterBufferObject(_buffer: u32) {
        refuse("cuGLUnregisterBufferObject", &[])
    }

    Context Unsafe fn cuGraphicsGLRegisterBuffer(out: u64, _buffer: u32, _flags: u32) {
        refuse("cuGraphicsGLRegisterBuffer", &[out])
    }

    Context Unsafe fn cuGraphicsGLRegisterImage(out: u64, _image: u32, _target: u32, _flags: u32) {
        refuse("cuGraphicsGLRegisterImage", &[out])
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

    Context Unsafe fn cuGraphicsVDPAURegisterOutputSurface(out: u64, _surface: u32, _flags: u32) {
        refuse("cuGraphicsVDPAURegisterOutputSurface", &[out])
    }

    Context Unsafe fn cuGraphicsVDPAURegisterVideoSurface(out: u64, _surface: u32, _flags: u32) {
        refuse("cuGraphicsVDPAURegisterVideoSurface", &[out])
    }

    Init Unsafe fn cuVDPAUCtxCreate(
        out: u64, _flags: u32, _device: CUdevice, _display: u32, _functions: u64,
    ) {
        refuse("cuVDPAUCtxCreate", &[out])
    }

    Init Unsafe fn cuVDPAUCtxCreate_v2(
        out: u64, _flags: u32, _device: CUdevice, _display: u32, _functions: u64,
    ) {
        refuse("cuVDPAUCtxCreate_v2", &[out])
    }

    Init Unsafe fn cuVDPAUGetDevice(out: u64, _display: u32, _functions: u64) {
        refuse("cuVDPAUGetDevice", &[out])
    }

    Init Legal fn cuDeviceGetNvSciSyncAttributes(list: u64, device: CUdevice, _flags: i32) {
        driver()?.device(device)?;
        refuse("cuDeviceGetNvSciSyncAttributes", &[list])
    }
}
