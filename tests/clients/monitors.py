"""Monitors beside a program that uses the driver: nvidia-ml-py, gpustat and nvitop, and nvidia-smi as scripts
parse it."""

import ctypes
import inspect
import io
import json
import os
import subprocess
import sys
import xml.etree.ElementTree

import pynvml

# nvitop puts a function of its own in its place.
MEMORY_INFO = pynvml.nvmlDeviceGetMemoryInfo

import gpustat  # noqa: E402
import nvitop  # noqa: E402

MIB = 1 << 20
SIZE = 48 * MIB
OWN = os.getpid()
DEVICES = int(os.environ["ANYWARP_DEVICES"])


class Cuda:
    """The driver, as far as it is needed to be a process that uses a device."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.memory, self.context = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.call("cuCtxSetCurrent", self.context)
        self.call("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(SIZE))

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        assert code == 0, f"{name}: {code}"

    def end(self):
        self.call("cuMemFree_v2", self.memory)
        self.call("cuDevicePrimaryCtxRelease", 0)


def own_of(processes):
    """Of processes, ours."""
    return [process for process in processes if process.pid == OWN]


def nvidia_ml_py(cuda_runs):
    pynvml.nvmlInit()
    count = pynvml.nvmlDeviceGetCount()
    assert count == DEVICES, count
    for index in range(count):
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        assert pynvml.nvmlDeviceGetName(handle) == "Anywarp CPU"
        same = pynvml.nvmlDeviceGetHandleByUUID(pynvml.nvmlDeviceGetUUID(handle))
        assert pynvml.nvmlDeviceGetIndex(same) == index
        memory = MEMORY_INFO(handle, version=pynvml.nvmlMemory_v2)
        assert memory.total == memory.reserved + memory.used + memory.free
        ours = own_of(pynvml.nvmlDeviceGetComputeRunningProcesses(handle))
        expected = [SIZE] if cuda_runs and index == 0 else []
        assert [process.usedGpuMemory for process in ours] == expected, ours
        assert pynvml.nvmlDeviceGetGraphicsRunningProcesses(handle) == []
    # Every function that takes a device and nothing else: an answer, or that there is none.
    handle, answered, unsupported, other = pynvml.nvmlDeviceGetHandleByIndex(0), 0, 0, []
    for name, function in inspect.getmembers(pynvml, inspect.isfunction):
        if not name.startswith(("nvmlDeviceGet", "nvmlDeviceIs")):
            continue
        parameters = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
        if len(parameters) != 1 or parameters[0].name not in ("handle", "device"):
            continue
        try:
            function(handle)
            answered += 1
        except pynvml.NVMLError_NotSupported:
            unsupported += 1
        except Exception as error:  # what else it may be is reported
            other.append(f"{name}: {type(error).__name__}: {error}")
    version = pynvml.nvmlSystemGetDriverVersion()
    assert [int(part) for part in version.split(".")] >= [580], version
    pynvml.nvmlShutdown()
    print(f"nvidia-ml-py: {answered} functions of a device answer, {unsupported} are not supported")
    assert answered > 0 and not other, other


def gpustat_shows(cuda_runs):
    query = gpustat.new_query()
    assert len(query) == DEVICES
    text = io.StringIO()
    query.print_formatted(fp=text, no_color=True, show_pid=True, show_cmd=True)
    told = io.StringIO()
    query.print_json(fp=told)
    first = json.loads(told.getvalue())["gpus"][0]
    ours = [process for process in first["processes"] if process["pid"] == OWN]
    assert [process["gpu_memory_usage"] for process in ours] == ([SIZE // MIB] if cuda_runs else []), first
    assert first["memory.total"] == query[0].memory_total > 0
    assert 0 <= first["utilization.gpu"] <= 100 and first["temperature.gpu"] is None
    shown = text.getvalue()
    assert "Anywarp CPU" in shown and (f"/{OWN}(" in shown) == cuda_runs, shown
    print(f"gpustat: {len(query)} devices, own process {'shown' if cuda_runs else 'not shown'}")


def nvitop_shows(cuda_runs):
    devices = nvitop.Device.all()
    assert len(devices) == nvitop.Device.count() == DEVICES
    assert nvitop.Device.driver_version().startswith("580.")
    assert nvitop.Device.cuda_driver_version() == "13.0"
    for device in devices:
        snapshot = device.as_snapshot()
        assert snapshot.name == "Anywarp CPU" and snapshot.memory_total > 0
        assert 0 <= snapshot.gpu_utilization <= 100
    processes = {device.index: device.processes() for device in devices}
    ours = {index: all_of_it[OWN].gpu_memory() for index, all_of_it in processes.items() if OWN in all_of_it}
    assert ours == ({0: SIZE} if cuda_runs else {}), ours
    # CUDA's devices in CUDA's order are NVML's, by UUID.
    assert [device.uuid() for device in nvitop.CudaDevice.all()] == [device.uuid() for device in devices]
    screen = subprocess.run(
        [sys.executable, "-m", "nvitop", "--once", "--colorful", "--ascii"],
        capture_output=True,
        text=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    assert screen.returncode == 0, screen
    assert "Anywarp CPU" in screen.stdout and (str(OWN) in screen.stdout) == cuda_runs, screen.stdout
    print(f"nvitop: {len(devices)} devices, their processes, and the screen")


def nvidia_smi_shows(cuda_runs):
    def smi(*arguments):
        return subprocess.run(["nvidia-smi", *arguments], capture_output=True, text=True, check=True).stdout

    table = smi()
    # Places at which scripts look.
    version = table.splitlines()[2].split("CUDA Version: ")[-1].split()[0]
    assert float(version) == 13.0, table
    assert table.split("Driver Version: ")[1].split("CUDA")[0].strip().startswith("580.")
    rows = smi("--query-gpu=name,memory.total,memory.used,utilization.gpu", "--format=csv,noheader,nounits")
    for row in rows.splitlines():
        name, total, used, busy = row.split(", ")
        assert name == "Anywarp CPU" and int(total) > int(used) and 0 <= int(busy) <= 100, row
    apps = smi("--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits").splitlines()
    assert (f"{OWN}, {SIZE // MIB}" in apps) == cuda_runs, apps
    root = xml.etree.ElementTree.fromstring(smi("-q", "-x"))
    assert len(root.findall("gpu")) == int(root.findtext("attached_gpus")) == len(rows.splitlines())
    pids = {int(pid.text) for pid in root.findall("gpu/processes/process_info/pid")}
    assert (OWN in pids) == cuda_runs, pids
    print(f"nvidia-smi: {len(rows.splitlines())} devices in each of its formats")


def main():
    for cuda_runs in (False, True, False):
        if cuda_runs:
            cuda = Cuda()
        nvidia_ml_py(cuda_runs)
        gpustat_shows(cuda_runs)
        nvitop_shows(cuda_runs)
        nvidia_smi_shows(cuda_runs)
        if cuda_runs:
            cuda.end()


if __name__ == "__main__":
    main()
