"""Modules, memory, streams, events and errors through hip-python, whose bindings open libamdhip64.so by
name."""

import ctypes

from hip import hip

PTX = b"""
.version 7.0
.target sm_52
.address_size 64
.visible .global .u32 calls = 0;
.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 count) {
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data];
    ld.param.f32 %f1, [factor];
    ld.param.u32 %r1, [count];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra end;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.f32 %f2, [%rd3];
    mul.f32 %f2, %f2, %f1;
    st.global.f32 [%rd3], %f2;
    red.global.add.u32 [calls], 1;
end:
    ret;
}
"""

KIND = hip.hipMemcpyKind
ERROR = hip.hipError_t


def check(answer):
    """Returns the results of a call that must succeed."""
    code, *results = answer if isinstance(answer, tuple) else (answer,)
    if code != ERROR.hipSuccess:
        raise RuntimeError(str(code))
    return results[0] if len(results) == 1 else tuple(results)


def fails(answer, wanted):
    code = answer[0] if isinstance(answer, tuple) else answer
    assert code == wanted, f"{code}, not {wanted}"


def devices():
    assert check(hip.hipGetDeviceCount()) >= 1
    assert check(hip.hipRuntimeGetVersion()) // 10_000_000 >= 6
    properties = check(hip.hipGetDeviceProperties(0))
    assert properties.warpSize == 32 and properties.maxThreadsPerBlock == 1024
    print("device:", properties.name if isinstance(properties.name, str) else properties.name.decode())


def kernels():
    count = 1000
    host = (ctypes.c_float * count)(*range(count))
    size = ctypes.sizeof(host)
    module = check(hip.hipModuleLoadData(PTX))
    scale = check(hip.hipModuleGetFunction(module, b"scale"))
    data = check(hip.hipMalloc(size))
    stream = check(hip.hipStreamCreate())
    start, stop = check(hip.hipEventCreate()), check(hip.hipEventCreate())
    check(hip.hipMemcpyAsync(data, host, size, KIND.hipMemcpyHostToDevice, stream))
    check(hip.hipEventRecord(start, stream))
    arguments = (data, ctypes.c_float(2.5), ctypes.c_uint32(count))
    check(hip.hipModuleLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, stream, None, arguments))
    check(hip.hipEventRecord(stop, stream))
    check(hip.hipMemcpyAsync(host, data, size, KIND.hipMemcpyDeviceToHost, stream))
    check(hip.hipStreamSynchronize(stream))
    assert list(host) == [2.5 * i for i in range(count)]
    assert check(hip.hipEventElapsedTime(start, stop)) >= 0
    # The variable is ordinary device memory.
    address, bytes_ = check(hip.hipModuleGetGlobal(module, b"calls"))
    calls = (ctypes.c_uint32 * 1)()
    assert bytes_ == 4
    check(hip.hipMemcpy(calls, address, 4, KIND.hipMemcpyDefault))
    assert calls[0] == count
    check(hip.hipMemset(data, 0, size))
    check(hip.hipMemcpy(host, data, size, KIND.hipMemcpyDeviceToHost))
    assert not any(host)
    for end in (hip.hipEventDestroy(start), hip.hipEventDestroy(stop), hip.hipStreamDestroy(stream), hip.hipFree(data)):
        check(end)
    check(hip.hipModuleUnload(module))


def errors():
    fails(hip.hipModuleLoadData(b"garbage\0"), ERROR.hipErrorInvalidImage)
    assert hip.hipGetLastError() in (ERROR.hipErrorInvalidImage, (ERROR.hipErrorInvalidImage,))
    assert hip.hipGetLastError() in (ERROR.hipSuccess, (ERROR.hipSuccess,))
    module = check(hip.hipModuleLoadData(PTX))
    fails(hip.hipModuleGetFunction(module, b"nothing"), ERROR.hipErrorNotFound)
    fails(hip.hipSetDevice(1000), ERROR.hipErrorInvalidDevice)
    assert "memory" in str(hip.hipGetErrorString(ERROR.hipErrorOutOfMemory))
    check(hip.hipModuleUnload(module))


for part in (devices, kernels, errors):
    part()
    print("ok:", part.__name__)
