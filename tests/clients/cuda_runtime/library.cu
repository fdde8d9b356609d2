// Thrust and CUB.
#include "check.h"

#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>

int main()
{
    const int n = 1000;
    thrust::device_vector<int> numbers(n);
    for (int i = 0; i < n; i++)
        numbers[i] = (i * 7) % n;
    thrust::sort(numbers.begin(), numbers.end());
    SAME("the first", static_cast<int>(numbers[0]), 0);
    SAME("the last", static_cast<int>(numbers[n - 1]), n - 1);
    SAME("thrust's sum", thrust::reduce(numbers.begin(), numbers.end()), n * (n - 1) / 2);
    int *in = thrust::raw_pointer_cast(numbers.data()), *out, sum;
    size_t size = 0;
    void *scratch = nullptr;
    CALL(cudaMalloc(&out, 4));
    CALL(cub::DeviceReduce::Max(scratch, size, in, out, n));
    CALL(cudaMalloc(&scratch, size));
    CALL(cub::DeviceReduce::Max(scratch, size, in, out, n));
    CALL(cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost));
    SAME("CUB's largest", sum, n - 1);
    std::puts("library: ok");
}
