//! Functions of CUDA's device runtime, by which kernels launch kernels and graphs.

use names::names;

names! {
/// A function of the device runtime, spelled as `cuda_device_runtime_api.h` declares it after its prefix. A
/// structure that is passed by value is an argument that holds its generic address.
pub enum DeviceFn {
    /// `(int *value, attribute, device)`
    DeviceGetAttribute = "DeviceGetAttribute",
    /// `(size_t *value, limit)`
    DeviceGetLimit = "DeviceGetLimit",
    /// `()`: the thread's last error, which becomes success.
    GetLastError = "GetLastError",
    /// `()`: the thread's last error.
    PeekAtLastError = "PeekAtLastError",
    /// `(error)`: the address of a text.
    GetErrorString = "GetErrorString",
    /// `(error)`: the address of a name.
    GetErrorName = "GetErrorName",
    /// `(int *count)`
    GetDeviceCount = "GetDeviceCount",
    /// `(int *device)`
    GetDevice = "GetDevice",
    /// `(stream *stream, flags)`
    StreamCreateWithFlags = "StreamCreateWithFlags",
    /// `(stream)`
    StreamDestroy = "StreamDestroy",
    /// `(stream, event, flags)`
    StreamWaitEvent = "StreamWaitEvent",
    /// `(event *event, flags)`
    EventCreateWithFlags = "EventCreateWithFlags",
    /// `(event, stream)`
    EventRecord = "EventRecord",
    /// `(event, stream, flags)`
    EventRecordWithFlags = "EventRecordWithFlags",
    /// `(event)`
    EventDestroy = "EventDestroy",
    /// `(void **address, size)`
    Malloc = "Malloc",
    /// `(address)`
    Free = "Free",
    /// `(to, from, size, kind, stream)`
    MemcpyAsync = "MemcpyAsync",
    /// `(to, pitch, from, pitch, width, height, kind, stream)`
    Memcpy2DAsync = "Memcpy2DAsync",
    /// `(address, value, size, stream)`
    MemsetAsync = "MemsetAsync",
    /// `(address, pitch, value, width, height, stream)`
    Memset2DAsync = "Memset2DAsync",
    /// `(int *version)`
    RuntimeGetVersion = "RuntimeGetVersion",
    /// `(alignment, size)`: the address of a buffer for parameters.
    GetParameterBuffer = "GetParameterBuffer",
    /// `(kernel, dim3 grid, dim3 block, shared)`: the address of a buffer for a launch's parameters, or 0.
    GetParameterBufferV2 = "GetParameterBufferV2",
    /// `(kernel, buffer, dim3 grid, dim3 block, shared, stream)`
    LaunchDevice = "LaunchDevice",
    /// `(buffer, stream)`
    LaunchDeviceV2 = "LaunchDeviceV2",
    /// `(graph, stream)`
    GraphLaunch = "GraphLaunch",
    /// `(node, offset, value *, size)`
    GraphKernelNodeSetParam = "GraphKernelNodeSetParam",
    /// `(node, bool)`
    GraphKernelNodeSetEnabled = "GraphKernelNodeSetEnabled",
    /// `(node, dim3 grid)`
    GraphKernelNodeSetGridDim = "GraphKernelNodeSetGridDim",
    /// `(update *, count)`
    GraphKernelNodeUpdatesApply = "GraphKernelNodeUpdatesApply",
    /// `()`: the graph that runs, or 0; the register `%current_graph_exec`.
    CurrentGraphExec = "CurrentGraphExec",
}}

/// The prefix of functions of the second generation of CUDA's dynamic parallelism.
const PREFIX: &str = "__cudaCDP2";
/// The prefix of functions of graphs.
const GRAPH_PREFIX: &str = "cuda";
/// The suffix of those to which a stream of 0 is the thread's own.
const OF_THREAD: &str = "_ptsz";

impl DeviceFn {
    /// The most arguments that a function has.
    pub const MOST: usize = 8;

    /// The number of arguments.
    pub const fn arguments(self) -> usize {
        use DeviceFn::*;
        match self {
            GetLastError | PeekAtLastError | CurrentGraphExec => 0,
            GetErrorString | GetErrorName | GetDeviceCount | GetDevice | StreamDestroy | EventDestroy
            | Free | RuntimeGetVersion => 1,
            DeviceGetLimit
            | StreamCreateWithFlags
            | EventCreateWithFlags
            | EventRecord
            | Malloc
            | GetParameterBuffer
            | LaunchDeviceV2
            | GraphLaunch
            | GraphKernelNodeSetEnabled
            | GraphKernelNodeSetGridDim
            | GraphKernelNodeUpdatesApply => 2,
            DeviceGetAttribute | StreamWaitEvent | EventRecordWithFlags => 3,
            MemsetAsync | GetParameterBufferV2 | GraphKernelNodeSetParam => 4,
            MemcpyAsync => 5,
            Memset2DAsync | LaunchDevice => 6,
            Memcpy2DAsync => 8,
        }
    }

    /// Whether it concerns graphs. These functions are no part of dynamic parallelism.
    const fn is_of_graphs(self) -> bool {
        use DeviceFn::*;
        matches!(
            self,
            GraphLaunch
                | GraphKernelNodeSetParam
                | GraphKernelNodeSetEnabled
                | GraphKernelNodeSetGridDim
                | GraphKernelNodeUpdatesApply
                | CurrentGraphExec
        )
    }

    /// The function with this name in PTX.
    pub fn of_symbol(name: &str) -> Option<DeviceFn> {
        if let Some(found) = name.strip_prefix(GRAPH_PREFIX).and_then(DeviceFn::from_name)
            && found.is_of_graphs()
            && found != DeviceFn::CurrentGraphExec
        {
            return Some(found);
        }
        let name = name.strip_prefix(PREFIX)?;
        let found = DeviceFn::from_name(name.strip_suffix(OF_THREAD).unwrap_or(name))?;
        (!found.is_of_graphs()).then_some(found)
    }

    /// Whether PTX that calls this function was compiled for the first generation of dynamic parallelism, in
    /// which blocks can wait for grids that they launch. That needs threads that stop at any place.
    pub fn is_of_first_generation(name: &str) -> bool {
        let named = name.strip_suffix(OF_THREAD).unwrap_or(name).strip_prefix(GRAPH_PREFIX);
        name == "cudaDeviceSynchronize"
            || named.and_then(DeviceFn::from_name).is_some_and(|f| !f.is_of_graphs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_name_functions() {
        for (name, function) in [
            ("__cudaCDP2LaunchDeviceV2", Some(DeviceFn::LaunchDeviceV2)),
            ("__cudaCDP2LaunchDeviceV2_ptsz", Some(DeviceFn::LaunchDeviceV2)),
            ("cudaGraphLaunch", Some(DeviceFn::GraphLaunch)),
            ("cudaGraphKernelNodeSetGridDim", Some(DeviceFn::GraphKernelNodeSetGridDim)),
            ("__cudaCDP2GraphLaunch", None),
            ("cudaCurrentGraphExec", None),
            ("cudaLaunchDeviceV2", None),
            ("LaunchDeviceV2", None),
        ] {
            assert_eq!(DeviceFn::of_symbol(name), function, "{name}");
        }
        for (name, first) in [
            ("cudaLaunchDeviceV2", true),
            ("cudaLaunchDeviceV2_ptsz", true),
            ("cudaDeviceSynchronize", true),
            ("cudaGraphLaunch", false),
            ("cudaGraphKernelNodeSetParam", false),
            ("__cudaCDP2LaunchDeviceV2", false),
            ("cudaOther", false),
        ] {
            assert_eq!(DeviceFn::is_of_first_generation(name), first, "{name}");
        }
    }
}
