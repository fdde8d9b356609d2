// Kernels that launch kernels, with CUDA's device runtime: the order of streams and tail launches, cooperation
// through memory, recursion, copies, and errors. Linked with -lcudadevrt, of which nothing runs.
#include "check.h"

// A list of numbers, in the order in which kernels add them.
struct Log {
    int count;
    int numbers[60];
};

__global__ void note(Log *log, int number)
{
    log->numbers[atomicAdd(&log->count, 1)] = number;
}

__global__ void middle(Log *log, int number)
{
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, number + 1);
    note<<<1, 1>>>(log, number);
}

__global__ void outer(Log *log)
{
    cudaStream_t stream;
    cudaEvent_t event;
    cudaError_t first = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaError_t second = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (first != cudaSuccess || second != cudaSuccess) {
        return;
    }
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 5);
    middle<<<1, 1, 0, stream>>>(log, 1);
    cudaEventRecord(event, stream);
    cudaStreamWaitEvent(0, event, 0);
    middle<<<1, 1>>>(log, 3);
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 6);
    cudaStreamDestroy(stream);
    cudaEventDestroy(event);
}

// Sorts a part of a list by launching itself on the parts around a pivot.
__global__ void sort(int *list, int left, int right)
{
    if (left >= right) {
        return;
    }
    int pivot = list[(left + right) / 2], i = left, j = right;
    while (i <= j) {
        while (list[i] < pivot) i++;
        while (list[j] > pivot) j--;
        if (i <= j) {
            int value = list[i];
            list[i++] = list[j];
            list[j--] = value;
        }
    }
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    sort<<<1, 1>>>(list, left, j);
    sort<<<1, 1, 0, stream>>>(list, i, right);
    cudaStreamDestroy(stream);
}

struct Wide {
    double factors[9];
    short last;
};

template <int N> __global__ void scale(float *data, Wide wide, char which)
{
    extern __shared__ float copy[];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    copy[threadIdx.x] = data[at] * N;
    __syncthreads();
    data[at] = copy[blockDim.x - 1 - threadIdx.x] * float(wide.factors[int(which)]) + wide.last;
}

__global__ void scales(float *data)
{
    Wide wide = {};
    wide.factors[8] = 0.5;
    wide.last = int(threadIdx.x);
    scale<4><<<dim3(1, 1, 1), dim3(8, 1, 1), 8 * sizeof(float)>>>(data + 8 * threadIdx.x, wide, 8);
}

struct Answers {
    int device, devices, bad, again, text, attribute;
    size_t stack;
    int copied, filled;
};

__global__ void asks(Answers *answers, int *words)
{
    cudaGetDevice(&answers->device);
    cudaGetDeviceCount(&answers->devices);
    note<<<1, 4096>>>(0, 0);
    answers->bad = cudaGetLastError();
    answers->again = cudaGetLastError();
    const char *text = cudaGetErrorString(cudaErrorInvalidConfiguration);
    answers->text = text[0];
    cudaDeviceGetAttribute(&answers->attribute, cudaDevAttrMaxThreadsPerBlock, 0);
    cudaDeviceGetLimit(&answers->stack, cudaLimitStackSize);
    int *own;
    if (cudaMalloc(&own, 2 * sizeof(int)) == cudaSuccess) {
        own[0] = 77;
        words[2] = own[0];
        cudaFree(own);
    }
    cudaMemsetAsync(words, 1, 2, 0);
    cudaMemcpyAsync(words + 1, words, 4, cudaMemcpyDeviceToDevice, 0);
}

int main()
{
    Log *log;
    CALL(cudaMallocManaged(&log, sizeof *log));
    log->count = 0;
    outer<<<1, 1>>>(log);
    CALL(cudaDeviceSynchronize());
    SAME("log->count == 6", log->count == 6, true);
    for (int i = 0; i < 6; i++) {
        SAME("log->numbers[i] == i + 1", log->numbers[i] == i + 1, true);
    }

    int *list;
    CALL(cudaMallocManaged(&list, 500 * sizeof *list));
    for (int i = 0; i < 500; i++) {
        list[i] = i * 7919 % 1000;
    }
    sort<<<1, 1>>>(list, 0, 499);
    CALL(cudaDeviceSynchronize());
    for (int i = 1; i < 500; i++) {
        SAME("list[i - 1] <= list[i]", list[i - 1] <= list[i], true);
    }

    float *data;
    CALL(cudaMallocManaged(&data, 32 * sizeof *data));
    for (int i = 0; i < 32; i++) {
        data[i] = float(i);
    }
    scales<<<1, 4>>>(data);
    CALL(cudaDeviceSynchronize());
    for (int i = 0; i < 32; i++) {
        SAME("data[i] == float(i / 8 * 8 + 7 - i % 8) * 2 + float(i / 8)", data[i] == float(i / 8 * 8 + 7 - i % 8) * 2 + float(i / 8), true);
    }

    Answers *answers;
    CALL(cudaMallocManaged(&answers, sizeof *answers));
    *answers = {};
    answers->device = -1;
    list[0] = list[1] = list[2] = 0;
    asks<<<1, 1>>>(answers, list);
    CALL(cudaDeviceSynchronize());
    size_t stack;
    CALL(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
    SAME("answers->device == 0 && answers->devices >= 1", answers->device == 0 && answers->devices >= 1, true);
    SAME("answers->bad == cudaErrorInvalidConfiguration && answers->again == cudaSuccess", answers->bad == cudaErrorInvalidConfiguration && answers->again == cudaSuccess, true);
    SAME("answers->text == 'i' && answers->attribute == 1024 && answers->stack == stack", answers->text == 'i' && answers->attribute == 1024 && answers->stack == stack, true);
    SAME("list[0] == 0x101 && list[1] == 0x101 && list[2] == 77", list[0] == 0x101 && list[1] == 0x101 && list[2] == 77, true);
    std::puts("nested: ok");
}
