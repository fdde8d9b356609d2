// Adds two vectors: a first CUDA program.
//
//   anywarp cc vecadd.cu -o vecadd && anywarp run -- ./vecadd
//
// anywarp cc needs clang: apt-get install clang-19
#include <cstdio>
#include <vector>

__global__ void add(const float *a, const float *b, float *sum, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sum[i] = a[i] + b[i];
}

int main() {
    const int n = 100000;
    std::vector<float> a(n), b(n), sum(n);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        b[i] = 0.5f * i;
    }

    float *da, *db, *dsum;
    cudaMalloc(&da, n * sizeof(float));
    cudaMalloc(&db, n * sizeof(float));
    cudaMalloc(&dsum, n * sizeof(float));
    cudaMemcpy(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice);

    const int block = 256;
    add<<<(n + block - 1) / block, block>>>(da, db, dsum, n);
    cudaError_t error = cudaMemcpy(sum.data(), dsum, n * sizeof(float), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(error));
        return 1;
    }

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += sum[i] != a[i] + b[i];
    std::printf("%d of %d sums are wrong, sum[777] = %g\n", wrong, n, sum[777]);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dsum);
    return wrong != 0;
}
