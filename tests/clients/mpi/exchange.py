"""One device a rank: numba arrays whose memory the ranks share by handles, which mpi4py passes on."""

import numpy as np
from mpi4py import MPI
from numba import cuda

COUNT = 10_000


@cuda.jit
def add(own, theirs, factor):
    i = cuda.grid(1)
    if i < own.size:
        own[i] += factor * theirs[i]


world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()
assert len(cuda.gpus) == ranks, f"{len(cuda.gpus)} devices for {ranks} ranks"
cuda.select_device(rank)
shared = cuda.to_device(np.arange(COUNT, dtype=np.float64) + rank)
own = cuda.device_array_like(shared)
own.copy_to_device(np.zeros(COUNT))
handles = world.allgather(shared.get_ipc_handle())
cuda.synchronize()
world.Barrier()
for other in range(ranks):
    if other == rank:
        add[40, 256](own, shared, other + 1)
        continue
    with handles[other] as theirs:
        add[40, 256](own, theirs, other + 1)
        cuda.synchronize()
wanted = sum((np.arange(COUNT) + other) * (other + 1.0) for other in range(ranks))
assert (own.copy_to_host() == wanted).all(), f"rank {rank}: wrong sums"
sums = world.allreduce(own.copy_to_host())
assert (sums == ranks * wanted).all(), f"rank {rank}: wrong total"
world.Barrier()
if rank == 0:
    print(f"exchange.py: ok, {ranks} ranks")
