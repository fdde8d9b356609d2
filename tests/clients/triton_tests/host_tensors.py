"""Runs programs that use PyTorch for tensors and Triton for kernels without PyTorch's CUDA back end, which
needs NVIDIA's closed runtime: `cuda` names the host, and tensors lie in memory that the driver may use
(memory.c).

As a pytest plugin (`-p host_tensors`), or `python3 -m host_tensors SCRIPT [ARGUMENT...]` for scripts, without
the benchmarks of Triton's tutorials."""
import contextlib
import ctypes
import runpy
import sys
import time
import types

import torch
from torch.overrides import TorchFunctionMode
from triton.backends.nvidia.driver import CudaDriver, CudaLauncher

_cuda = ctypes.CDLL("libcuda.so.1")
_memory = ctypes.CDLL(None)


def _call(name, *arguments):
    status = getattr(_cuda, name)(*arguments)
    if status:
        text = ctypes.c_char_p()
        _cuda.cuGetErrorName(status, ctypes.byref(text))
        raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")


def _attribute(number):
    value = ctypes.c_int()
    _call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
    return value.value


def _begin():
    """Makes the primary context current, and registers the memory of tensors; returns its addresses."""
    context, device, size, begin = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_size_t(), ctypes.c_uint64()
    _call("cuInit", 0)
    _call("cuDeviceGet", ctypes.byref(device), 0)
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    _call("cuCtxSetCurrent", context)
    _memory.tensor_region.restype = ctypes.c_void_p
    region = ctypes.c_void_p(_memory.tensor_region(ctypes.byref(size)))
    portable_and_mapped = 3
    _call("cuMemHostRegister_v2", region, size, portable_and_mapped)
    _call("cuMemHostGetDevicePointer_v2", ctypes.byref(begin), region, 0)
    assert begin.value == region.value, "the device sees the tensors at other addresses"
    return range(region.value, region.value + size.value)


REGION = _begin()


def synchronize(device=None):
    _call("cuCtxSynchronize")


def _is_cuda(device):
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return isinstance(device, str) and device.split(":")[0] == "cuda"


def _for_kernels(tensor):
    """The tensor, or a copy in memory that kernels may use."""
    return tensor if tensor.data_ptr() in REGION or not tensor.numel() else tensor.clone()


class _Host(TorchFunctionMode):
    """Creates tensors for `cuda` on the host."""

    def __torch_function__(self, function, classes, arguments=(), keywords=None):
        keywords = dict(keywords or {})
        if function == torch.Tensor.is_cuda.__get__:
            return True
        name = getattr(function, "__name__", "")
        if name == "cuda" and isinstance(arguments[0], torch.Tensor):
            return _for_kernels(arguments[0])
        if name == "cpu" or name == "to" and "cpu" in arguments[1:]:
            return arguments[0].clone()
        keywords.pop("pin_memory", None)
        wanted = _is_cuda(keywords.get("device")) or any(map(_is_cuda, arguments))
        if _is_cuda(keywords.get("device")):
            keywords["device"] = "cpu"
        arguments = tuple("cpu" if _is_cuda(argument) else argument for argument in arguments)
        result = function(*arguments, **keywords)
        return _for_kernels(result) if wanted and isinstance(result, torch.Tensor) else result


class _Event:
    """Time between two events, on the host's clock."""

    def __init__(self, *_, **__):
        self.time = 0.0

    def record(self, stream=None):
        self.time = time.perf_counter()

    def elapsed_time(self, end):
        return (end.time - self.time) * 1000

    def synchronize(self):
        synchronize()

    def query(self):
        return True


def _replace():
    capability = (_attribute(75), _attribute(76))
    stream = types.SimpleNamespace(cuda_stream=0, synchronize=synchronize, wait_stream=lambda other: None)
    properties = types.SimpleNamespace(
        name="Anywarp", major=capability[0], minor=capability[1], multi_processor_count=_attribute(16),
        warp_size=32, max_threads_per_multi_processor=_attribute(39),
        shared_memory_per_multiprocessor=_attribute(81), regs_per_multiprocessor=_attribute(82),
        total_memory=4 << 30, L2_cache_size=_attribute(38))
    for name, value in {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "set_device": lambda device: None,
        "get_device_capability": lambda device=None: capability,
        "get_device_properties": lambda device=None: properties,
        "get_device_name": lambda device=None: properties.name,
        "synchronize": synchronize,
        "current_stream": lambda device=None: stream,
        "default_stream": lambda device=None: stream,
        "Stream": lambda *a, **k: stream,
        "Event": _Event,
        "empty_cache": lambda: None,
        "device": lambda device=None: contextlib.nullcontext(),
        "stream": lambda stream=None: contextlib.nullcontext(),
        "manual_seed": lambda seed: None,
        "manual_seed_all": lambda seed: None,
    }.items():
        setattr(torch.cuda, name, value)
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    # PyTorch reads tensors without waiting for a stream, so launches wait for their kernels.
    launch = CudaLauncher.__call__

    def launch_and_wait(self, *arguments, **keywords):
        launch(self, *arguments, **keywords)
        synchronize()

    CudaLauncher.__call__ = launch_and_wait
    # Where programs ask Triton for the device, they compare it with that of their tensors.
    CudaDriver.get_active_torch_device = lambda self: torch.device("cpu")
    _Host().__enter__()


_replace()

if __name__ == "__main__":
    import triton.testing

    # The tutorials compare their kernels with PyTorch first and then measure, with arrays that take a
    # processor too long.
    nothing = types.SimpleNamespace(run=lambda *a, **k: None)
    triton.testing.perf_report = lambda marks: lambda function: nothing
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
