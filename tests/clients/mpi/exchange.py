"""One device a rank: kernels of numba read the memory of all ranks, whose handles mpi4py passes on."""

import ctypes

import numpy as np
from cuda.bindings import driver
from mpi4py import MPI
from numba import cuda

COUNT = 10_000
LAZY_PEER_ACCESS = 1


@cuda.jit
def add(own, theirs, factor):
    i = cuda.grid(1)
    if i < own.size:
        own[i] += factor * theirs[i]


def checked(answer):
    code, *values = answer
    assert code == driver.CUresult.CUDA_SUCCESS, code
    return values[0] if values else None


def handle_of(array):
    """The bytes of the handle of an array's memory."""
    address = array.__cuda_array_interface__["data"][0]
    handle = checked(driver.cuIpcGetMemHandle(address))
    return ctypes.string_at(handle.getPtr(), 64)


class Opened:
    """The memory behind a handle, as an array."""

    def __init__(self, handle):
        opened = driver.CUipcMemHandle()
        ctypes.memmove(opened.getPtr(), handle, 64)
        self.address = checked(driver.cuIpcOpenMemHandle(opened, LAZY_PEER_ACCESS))
        data = (int(self.address), False)
        self.__cuda_array_interface__ = {"shape": (COUNT,), "typestr": "<f8", "data": data, "version": 3}

    def close(self):
        checked(driver.cuIpcCloseMemHandle(self.address))


world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
assert len(cuda.gpus) == ranks, f"{len(cuda.gpus)} devices for {ranks} ranks"
cuda.select_device(rank)
shared = cuda.to_device(np.arange(COUNT, dtype=np.float64) + rank)
own = cuda.to_device(np.zeros(COUNT))
handles = world.allgather(handle_of(shared))
cuda.synchronize()
world.Barrier()
for other in range(ranks):
    if other == rank:
        add[40, 256](own, shared, other + 1)
        continue
    theirs = Opened(handles[other])
    add[40, 256](own, cuda.as_cuda_array(theirs), other + 1)
    cuda.synchronize()
    theirs.close()
wanted = sum((np.arange(COUNT) + other) * (other + 1.0) for other in range(ranks))
assert (own.copy_to_host() == wanted).all(), f"rank {rank}: wrong sums"
total = world.allreduce(own.copy_to_host())
assert (total == ranks * wanted).all(), f"rank {rank}: wrong total"
world.Barrier()
if rank == 0:
    print(f"exchange.py: ok, {ranks} ranks")
