"""NVIDIA's Python bindings: of the driver API (cuda.bindings.driver) kernels, streams, events, memory and
errors; of the runtime (cuda.bindings.runtime) a few functions, and cuda.core, which calls both."""

import ctypes
import threading

import numpy as np
from cuda.bindings import driver as cu
from cuda.bindings import nvrtc, runtime
from cuda.core import Device

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 launches;

.visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
    .reg .pred %p;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<8>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r1, %r1, %r2, %r3;
    setp.ne.u32 %p, %r1, 0;
    @%p bra counted;
    mov.u64 %rd1, launches;
    red.global.add.u32 [%rd1], 1;
counted:
    ld.param.u32 %r4, [n];
    setp.ge.u32 %p, %r1, %r4;
    @%p ret;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    mul.wide.u32 %rd4, %r1, 4;
    add.s64 %rd1, %rd1, %rd4;
    add.s64 %rd2, %rd2, %rd4;
    add.s64 %rd3, %rd3, %rd4;
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd2];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd3], %f3;
    ret;
}
"""


def ok(answer):
    """Returns the results of a call that must succeed."""
    status, *results = answer
    assert status == cu.CUresult.CUDA_SUCCESS, cu.cuGetErrorName(status)[1].decode()
    return results[0] if len(results) == 1 else results


def answers(answer, status):
    """Checks that a call fails with this status."""
    assert answer[0] == status, f"{answer[0]}, expected {status}"


ok(cu.cuInit(0))
assert ok(cu.cuDeviceGetCount()) > 0
device = ok(cu.cuDeviceGet(0))
print(ok(cu.cuDeviceGetName(64, device)).rstrip(b"\0").decode(), "driver", ok(cu.cuDriverGetVersion()))
context = ok(cu.cuDevicePrimaryCtxRetain(device))
ok(cu.cuCtxSetCurrent(context))

# A module with its log.
log = bytearray(1024)
options = [cu.CUjit_option.CU_JIT_INFO_LOG_BUFFER, cu.CUjit_option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES]
module = ok(cu.cuModuleLoadDataEx(PTX, 2, options, [log, len(log)]))
add = ok(cu.cuModuleGetFunction(module, b"add"))
launches, size = ok(cu.cuModuleGetGlobal(module, b"launches"))
assert size == 4

# Two streams; the second waits for the first one's event.
n = 100_000
a = np.arange(n, dtype=np.float32)
b = np.full(n, 0.5, dtype=np.float32)
c = np.zeros(n, dtype=np.float32)
buffers = [ok(cu.cuMemAlloc(a.nbytes)) for _ in range(3)]
first, second = (ok(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2))
start, ready, end = (ok(cu.cuEventCreate(0)) for _ in range(3))
ok(cu.cuEventRecord(start, first))
for buffer, host in zip(buffers, (a, b)):
    ok(cu.cuMemcpyHtoDAsync(buffer, host.ctypes.data, host.nbytes, first))
ok(cu.cuEventRecord(ready, first))
ok(cu.cuStreamWaitEvent(second, ready, 0))
arguments = ((*buffers, n), (None, None, None, ctypes.c_uint32))
ok(cu.cuLaunchKernel(add, (n + 255) // 256, 1, 1, 256, 1, 1, 0, second, arguments, 0))
ok(cu.cuMemcpyDtoHAsync(c.ctypes.data, buffers[2], c.nbytes, second))
ok(cu.cuEventRecord(end, second))
ok(cu.cuEventSynchronize(end))
answers(cu.cuEventQuery(end), cu.CUresult.CUDA_SUCCESS)
assert ok(cu.cuEventElapsedTime(start, end)) >= 0
np.testing.assert_array_equal(c, a + b)

# The same through cuLaunchKernelEx, and the counter of both launches.
config = cu.CUlaunchConfig()
config.gridDimX, config.gridDimY, config.gridDimZ = (n + 255) // 256, 1, 1
config.blockDimX, config.blockDimY, config.blockDimZ = 256, 1, 1
config.hStream = second
ok(cu.cuLaunchKernelEx(config, add, arguments, 0))
ok(cu.cuStreamSynchronize(second))
count = np.zeros(1, dtype=np.uint32)
ok(cu.cuMemcpyDtoH(count.ctypes.data, launches, 4))
assert count[0] == 2

# Other kinds of memory: filled, pinned, managed, from the stream's pool.
ok(cu.cuMemsetD32(buffers[2], 7, n))
words = np.zeros(n, dtype=np.uint32)
ok(cu.cuMemcpyDtoH(words.ctypes.data, buffers[2], words.nbytes))
assert (words == 7).all()
pinned = ok(cu.cuMemHostAlloc(4 * n, 0))
ok(cu.cuMemcpyDtoD(buffers[2], buffers[0], a.nbytes))
ok(cu.cuMemcpyDtoH(pinned, buffers[2], a.nbytes))
np.testing.assert_array_equal(np.ctypeslib.as_array((ctypes.c_float * n).from_address(pinned)), a)
managed = ok(cu.cuMemAllocManaged(4 * n, cu.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value))
ctypes.memset(int(managed), 0, 4 * n)
pooled = ok(cu.cuMemAllocAsync(4 * n, second))
ok(cu.cuMemsetD8Async(pooled, 0x3F, 4 * n, second))
ok(cu.cuMemFreeAsync(pooled, second))
kind = ok(cu.cuPointerGetAttribute(cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, buffers[0]))
assert cu.CUmemorytype(int(kind)) == cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
free, total = ok(cu.cuMemGetInfo())
assert 0 < free <= total

# Another thread makes the context current.
found = []


def elsewhere():
    answers(cu.cuMemAlloc(4), cu.CUresult.CUDA_ERROR_INVALID_CONTEXT)
    ok(cu.cuCtxSetCurrent(context))
    found.append(int(ok(cu.cuCtxGetCurrent())))


thread = threading.Thread(target=elsewhere)
thread.start()
thread.join()
assert found == [int(context)]

# Errors.
answers(cu.cuModuleGetFunction(module, b"subtract"), cu.CUresult.CUDA_ERROR_NOT_FOUND)
answers(cu.cuModuleLoadData(b".version 7.0\n.target sm_70\n.address_size 64\nnonsense"), cu.CUresult.CUDA_ERROR_INVALID_PTX)
answers(cu.cuMemFree(0x10), cu.CUresult.CUDA_ERROR_INVALID_VALUE)
answers(cu.cuDeviceGet(ok(cu.cuDeviceGetCount())), cu.CUresult.CUDA_ERROR_INVALID_DEVICE)
assert ok(cu.cuGetErrorString(cu.CUresult.CUDA_ERROR_NOT_FOUND)) == b"named symbol not found"

# `anywarp run` makes NVRTC give PTX where it would give machine code, which the driver does not take.
source = b'extern "C" __global__ void three(int *to) { *to = 3; }'
program = ok(nvrtc.nvrtcCreateProgram(source, b"three.cu", 0, [], []))
ok(nvrtc.nvrtcCompileProgram(program, 1, [b"--gpu-architecture=sm_80"]))
cubin = b" " * ok(nvrtc.nvrtcGetCUBINSize(program))
ok(nvrtc.nvrtcGetCUBIN(program, cubin))
other = ok(cu.cuModuleLoadData(cubin))
three = ok(cu.cuModuleGetFunction(other, b"three"))
ok(cu.cuLaunchKernel(three, 1, 1, 1, 1, 1, 1, 0, 0, ((buffers[0],), (None,)), 0))
three = np.zeros(1, dtype=np.int32)
ok(cu.cuMemcpyDtoH(three.ctypes.data, buffers[0], 4))
assert three[0] == 3
ok(cu.cuModuleUnload(other))

# The bindings have NVIDIA's static runtime in them. `anywarp run` makes them call ours, on the same handles.
def done(answer):
    assert answer[0] == runtime.cudaError_t.cudaSuccess, answer
    return answer[1] if len(answer) == 2 else None


assert done(runtime.cudaGetDeviceCount()) == ok(cu.cuDeviceGetCount())
assert done(runtime.cudaRuntimeGetVersion()) == 13000
memory = done(runtime.cudaMalloc(4))
ok(cu.cuMemsetD32(memory, 7, 1))
seven = np.zeros(1, dtype=np.int32)
to_host = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
done(runtime.cudaMemcpyAsync(seven.ctypes.data, memory, 4, to_host, first))
done(runtime.cudaStreamSynchronize(first))
assert seven[0] == 7
done(runtime.cudaFree(memory))
assert runtime.cudaFree(0x10)[0] == runtime.cudaError_t.cudaErrorInvalidValue
assert done(runtime.cudaGetDeviceProperties(0)).name == ok(cu.cuDeviceGetName(100, device)).split(b"\0")[0]
Device(0).set_current()
Device(0).sync()

for buffer in (*buffers, managed):
    ok(cu.cuMemFree(buffer))
ok(cu.cuMemFreeHost(pinned))
for event in (start, ready, end):
    ok(cu.cuEventDestroy(event))
for stream in (first, second):
    ok(cu.cuStreamDestroy(stream))
ok(cu.cuModuleUnload(module))
ok(cu.cuDevicePrimaryCtxRelease(device))
print("cuda-bindings: passed")
