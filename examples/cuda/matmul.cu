// Multiplies two matrices by tiles in shared memory.
//
//   anywarp cc matmul.cu -o matmul && anywarp run -- ./matmul
//
// anywarp cc needs clang: apt-get install clang-19
#include <cmath>
#include <cstdio>

const int N = 192, TILE = 16;

__global__ void multiply(const float *a, const float *b, float *c) {
    __shared__ float part_a[TILE][TILE], part_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int k = 0; k < N; k += TILE) {
        part_a[y][x] = a[row * N + k + x];
        part_b[y][x] = b[(k + y) * N + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += part_a[y][i] * part_b[i][x];
        __syncthreads();
    }
    c[row * N + column] = sum;
}

int main() {
    float *a, *b, *c;
    cudaMallocManaged(&a, N * N * sizeof(float));
    cudaMallocManaged(&b, N * N * sizeof(float));
    cudaMallocManaged(&c, N * N * sizeof(float));
    for (int i = 0; i < N * N; i++) {
        a[i] = std::sin((float)i);
        b[i] = std::cos((float)i);
    }

    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    multiply<<<dim3(N / TILE, N / TILE), dim3(TILE, TILE)>>>(a, b, c);
    cudaEventRecord(stop);
    cudaError_t error = cudaEventSynchronize(stop);
    if (error != cudaSuccess) {
        std::printf("%s\n", cudaGetErrorString(error));
        return 1;
    }
    float milliseconds;
    cudaEventElapsedTime(&milliseconds, start, stop);
    std::printf("%.3f ms, with the compilation of the kernel\n", milliseconds);

    int wrong = 0;
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += (double)a[row * N + k] * b[k * N + column];
            wrong += !(std::fabs(c[row * N + column] - sum) < 1e-4);
        }
    }
    std::printf("%d of %d elements are wrong\n", wrong, N * N);
    return wrong != 0;
}
