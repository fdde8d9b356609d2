"""Device memory for Triton without PyTorch: numpy arrays that are copied by the driver, CUDA's or HIP's."""
import ctypes
import os

import ml_dtypes
import numpy as np

# Triton's names of numpy's types.
NAMES = {
    np.dtype(kind): name
    for kind, name in [
        (np.float16, "fp16"), (np.float32, "fp32"), (np.float64, "fp64"), (ml_dtypes.bfloat16, "bf16"),
        (ml_dtypes.float8_e4m3fn, "float8_e4m3fn"), (ml_dtypes.float8_e5m2, "float8_e5m2"),
        (np.int8, "int8"), (np.int16, "int16"), (np.int32, "int32"), (np.int64, "int64"),
        (np.uint8, "uint8"), (np.uint16, "uint16"), (np.uint32, "uint32"), (np.uint64, "uint64"),
    ]
}

# Set by the suite's `--amd`.
AMD = bool(os.environ.get("TRITON_SUITE_AMD"))
# HIP's functions with the same parameters.
IN_HIP = {
    "cuMemAlloc_v2": "hipMalloc", "cuMemFree_v2": "hipFree", "cuMemcpyHtoD_v2": "hipMemcpyHtoD", "cuMemcpyDtoH_v2": "hipMemcpyDtoH",
}

_library = ctypes.CDLL("libamdhip64.so" if AMD else "libcuda.so.1")


def function(name):
    """The driver's function that CUDA has under this name."""
    return getattr(_library, IN_HIP[name] if AMD else name)


def call(name, *arguments):
    """Calls a driver function."""
    status = function(name)(*arguments)
    if status and AMD:
        _library.hipGetErrorName.restype = ctypes.c_char_p
        raise RuntimeError(f"{IN_HIP[name]}: {_library.hipGetErrorName(status).decode()}")
    if status:
        text = ctypes.c_char_p()
        _library.cuGetErrorName(status, ctypes.byref(text))
        raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")


def begin_amd():
    """Makes Triton use its driver for AMD and returns the device's name."""
    import triton
    from triton.backends.amd.driver import HIPDriver, HIPLauncher, HIPUtils

    class Driver(HIPDriver):
        """Triton's own, without PyTorch, which it asks for the current device and stream."""

        def __init__(self):
            self.utils, self.launcher_cls = HIPUtils(), HIPLauncher
            self.get_current_device = lambda: 0
            self.get_current_stream = lambda device: 0

    driver = Driver()
    triton.runtime.driver.set_active(driver)
    return driver.get_current_target().arch


def begin():
    """Makes the device's primary context current and returns the capability."""
    context, device = ctypes.c_void_p(), ctypes.c_int()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    return attribute(75) * 10 + attribute(76)


def attribute(number):
    """An attribute of the device."""
    value = ctypes.c_int()
    call("cuDeviceGetAttribute", ctypes.byref(value), number, 0)
    return value.value


class Kind:
    """An element type with the interface that Triton expects."""

    def __init__(self, kind):
        self.name, self.itemsize = NAMES[kind], kind.itemsize
        self.is_floating_point = self.name.startswith(("f", "bf"))

    def __str__(self):
        return self.name

    def __eq__(self, other):
        return str(self) == str(other)

    def __hash__(self):
        return hash(self.name)


class Tensor:
    """An array in device memory."""

    def __init__(self, array):
        array = np.ascontiguousarray(array)
        self.shape, self.kind, self.bytes = array.shape, array.dtype, array.nbytes
        self.dtype = Kind(array.dtype)
        self._address = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(self._address), ctypes.c_size_t(max(self.bytes, 1)))
        call("cuMemcpyHtoD_v2", self._address, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(self.bytes))

    def data_ptr(self):
        return self._address.value

    def stride(self, axis=None):
        strides = [int(np.prod(self.shape[i + 1:])) for i in range(len(self.shape))]
        return strides if axis is None else strides[axis]

    def numpy(self):
        """The contents of device memory after all launches."""
        array = np.empty(self.shape, self.kind)
        call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), self._address, ctypes.c_size_t(self.bytes))
        return array

    def __del__(self):
        function("cuMemFree_v2")(self._address)


def empty(shape, kind):
    """An array of NaNs or large numbers, which shows elements that a kernel does not write."""
    kind = np.dtype(kind)
    return Tensor(np.frombuffer(b"\x7f" * (int(np.prod(shape)) * kind.itemsize), kind).reshape(shape))


def zeros(shape, kind):
    return Tensor(np.zeros(shape, kind))


def scratch(size, alignment, _stream):
    """Sets up memory for kernels that create tensor maps."""
    return Tensor(np.zeros(size + alignment, np.uint8))
