// Textures at file scope, as the porting guide declares them: an image in an array, and colours in linear memory
// that are read as fractions.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

texture<float, 2, hipReadModeElementType> image;
texture<uchar4, 1, hipReadModeNormalizedFloat> colours;

const int width = 8, height = 4;

__global__ void read(float *out) {
    int x = threadIdx.x, y = blockIdx.x;
    out[y * width + x] = tex2D(image, x + 0.5f, y + 0.5f) + 255 * tex1Dfetch(colours, x).y;
}

static void check(hipError_t error, const char *what) {
    if (error != hipSuccess) {
        std::printf("%s: %s\n", what, hipGetErrorString(error));
        std::exit(1);
    }
}
#define CHECK(call) check(call, #call)

int main() {
    float texels[width * height], sums[width * height];
    unsigned char bytes[4 * width];
    for (int i = 0; i < width * height; i++)
        texels[i] = 100.0f * i;
    for (int i = 0; i < 4 * width; i++)
        bytes[i] = (unsigned char)(3 * i);

    hipArray_t array;
    hipChannelFormatDesc channel = hipCreateChannelDesc<float>(), four = hipCreateChannelDesc<uchar4>();
    CHECK(hipMallocArray(&array, &channel, width, height));
    CHECK(hipMemcpy2DToArray(array, 0, 0, texels, width * sizeof(float), width * sizeof(float), height,
                             hipMemcpyHostToDevice));
    CHECK(hipBindTextureToArray(&image, array, &channel));
    unsigned char *memory;
    size_t offset;
    CHECK(hipMalloc(&memory, sizeof bytes));
    CHECK(hipMemcpy(memory, bytes, sizeof bytes, hipMemcpyHostToDevice));
    CHECK(hipBindTexture(&offset, &colours, memory, &four, sizeof bytes));

    float *out;
    CHECK(hipMalloc(&out, sizeof sums));
    hipLaunchKernelGGL(read, dim3(height), dim3(width), 0, 0, out);
    CHECK(hipMemcpy(sums, out, sizeof sums, hipMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < width * height; i++) {
        float difference = sums[i] - (texels[i] + bytes[4 * (i % width) + 1]);
        wrong += difference > 0.001f || difference < -0.001f;
    }
    std::printf("%d of %d texels are wrong\n", wrong, width * height);
    return wrong != 0;
}
