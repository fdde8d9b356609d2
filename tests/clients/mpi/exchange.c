// One device a rank: each rank opens the memory of the next one, which a handle of the runtime's names, copies from
// it and writes into it. A reduction through host memory checks the sum.
#include <cuda_runtime_api.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL(call)                                                                                           \
    do {                                                                                                     \
        cudaError_t code_ = (call);                                                                          \
        if (code_ != cudaSuccess) {                                                                          \
            fprintf(stderr, "rank %d, %s:%d: %s: %s\n", rank, __FILE__, __LINE__, #call, cudaGetErrorName(code_)); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                    \
        }                                                                                                    \
    } while (0)

enum { COUNT = 1 << 16 };

static int rank, ranks;

static void same(const char *what, long is, long wanted)
{
    if (is != wanted) {
        fprintf(stderr, "rank %d: %s is %ld; it should be %ld\n", rank, what, is, wanted);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int devices, *own, *theirs, *host = malloc(COUNT * sizeof *host);
    CALL(cudaGetDeviceCount(&devices));
    same("the number of devices", devices, ranks);
    CALL(cudaSetDevice(rank));
    CALL(cudaMalloc((void **)&own, COUNT * sizeof *own));
    for (int i = 0; i < COUNT; i++) {
        host[i] = rank * COUNT + i;
    }
    CALL(cudaMemcpy(own, host, COUNT * sizeof *own, cudaMemcpyHostToDevice));

    cudaIpcMemHandle_t mine, *all = malloc(ranks * sizeof *all);
    CALL(cudaIpcGetMemHandle(&mine, own));
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    int next = (rank + 1) % ranks;
    CALL(cudaIpcOpenMemHandle((void **)&theirs, all[next], cudaIpcMemLazyEnablePeerAccess));
    CALL(cudaMemcpy(host, theirs, COUNT * sizeof *host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++) {
        same("a word of the next rank", host[i], next * COUNT + i);
    }
    // Everyone has read: now each fills half of the next rank's memory from its own.
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(cudaMemset(own, rank + 1, COUNT / 2 * sizeof *own));
    CALL(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(cudaMemcpy(theirs + COUNT / 2, own, COUNT / 2 * sizeof *own, cudaMemcpyDefault));
    CALL(cudaDeviceSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(cudaMemcpy(host, own, COUNT * sizeof *host, cudaMemcpyDeviceToHost));
    int before = (rank + ranks - 1) % ranks;
    for (int i = 0; i < COUNT; i++) {
        same("a word after the exchange", host[i], (i < COUNT / 2 ? rank + 1 : before + 1) * 0x01010101);
    }
    long sum = host[COUNT - 1], total;
    MPI_Allreduce(&sum, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    same("the sum", total, 0x01010101L * ranks * (ranks + 1) / 2);
    CALL(cudaIpcCloseMemHandle(theirs));
    MPI_Barrier(MPI_COMM_WORLD);
    CALL(cudaFree(own));
    if (rank == 0) {
        printf("exchange: ok, %d ranks\n", ranks);
    }
    MPI_Finalize();
    return 0;
}
