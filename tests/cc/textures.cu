// Textures and surfaces, compared with arithmetic on the host. Weights are multiples of 1/4, which textures have
// exactly.
#include "check.h"

const int width = 16, height = 8, depth = 4;

__global__ void fetch(cudaTextureObject_t line, cudaTextureObject_t flat, cudaTextureObject_t smooth,
                      cudaTextureObject_t colours, cudaTextureObject_t block, cudaTextureObject_t layers, float *out) {
    int i = threadIdx.x, x = i % width, y = i / width;
    out += i * 12;
    out[0] = tex1Dfetch<float>(line, i);
    out[1] = tex2D<float>(flat, x + 0.5f, y + 0.5f);
    // Between four elements, or beyond the edge.
    out[2] = tex2D<float>(smooth, (x + 0.75f) / width, (y + 0.25f) / height);
    float4 c = tex2D<float4>(colours, x + 0.5f, y + 0.5f);
    out[3] = c.x;
    out[4] = c.w;
    out[5] = tex3D<float>(block, x + 0.5f, y + 0.5f, i % depth + 0.5f);
    tex2DLayered(&out[6], layers, x + 0.5f, y + 0.5f, i % 3);
    out[7] = tex2DLod<float>(smooth, (x + 0.5f) / width, (y + 0.5f) / height, 0.0f);
    float4 four = tex2Dgather<float4>(smooth, (x + 1.0f) / width, (y + 1.0f) / height, 0);
    out[8] = four.x;
    out[9] = four.y;
    out[10] = four.z;
    out[11] = four.w;
}

__global__ void change(cudaSurfaceObject_t numbers, cudaSurfaceObject_t colours, int *outside) {
    int i = threadIdx.x, x = i % width, y = i / width;
    float v;
    surf2Dread(&v, numbers, x * sizeof(float), y, cudaBoundaryModeZero);
    surf2Dwrite(2 * v + 1, numbers, x * sizeof(float), y, cudaBoundaryModeZero);
    uchar4 c = surf2Dread<uchar4>(colours, x * sizeof(uchar4), y, cudaBoundaryModeZero);
    surf2Dwrite(make_uchar4(c.w, c.z, c.y, c.x), colours, x * sizeof(uchar4), y, cudaBoundaryModeZero);
    if (i == 0)
        *outside = (int)surf2Dread<float>(numbers, width * sizeof(float), 0, cudaBoundaryModeZero);
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &memory, cudaTextureFilterMode filter,
                                      cudaTextureReadMode read, int normalized) {
    cudaTextureDesc how = {};
    for (int i = 0; i < 3; i++)
        how.addressMode[i] = cudaAddressModeClamp;
    how.filterMode = filter;
    how.readMode = read;
    how.normalizedCoords = normalized;
    cudaTextureObject_t made;
    CHECK(cudaCreateTextureObject(&made, &memory, &how, nullptr));
    return made;
}

static cudaResourceDesc of_array(cudaArray_t array) {
    cudaResourceDesc memory = {};
    memory.resType = cudaResourceTypeArray;
    memory.res.array.array = array;
    return memory;
}

// An array with these elements; `layers` may be 0.
template <class T> cudaArray_t array_of(const T *from, int layers, unsigned flags) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    cudaArray_t array;
    cudaMemcpy3DParms copy = {};
    CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, layers), flags));
    copy.srcPtr = make_cudaPitchedPtr((void *)from, width * sizeof(T), width, height);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, height, layers ? layers : 1);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    return array;
}

static float at(const float *v, int x, int y) {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return v[y * width + x];
}

int main() {
    const int n = width * height;
    float *v = shared_memory<float>(n * depth), *out = shared_memory<float>(n * 12);
    int *outside = shared_memory<int>(1);
    static uchar4 colours[width * height];
    for (int i = 0; i < n * depth; i++)
        v[i] = (float)(i * 7 % 256 * 4);
    for (int i = 0; i < n; i++)
        colours[i] = make_uchar4(i, 255 - i, i * 3 % 256, i * 5 % 256);

    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = v;
    linear.res.linear.desc = cudaCreateChannelDesc<float>();
    linear.res.linear.sizeInBytes = n * sizeof(float);
    cudaArray_t numbers = array_of(v, 0, cudaArraySurfaceLoadStore), pixels = array_of(colours, 0, cudaArraySurfaceLoadStore);
    cudaArray_t block = array_of(v, depth, 0), layers = array_of(v, 3, cudaArrayLayered);
    cudaArray_t gathered = array_of(v, 0, cudaArrayTextureGather);
    fetch<<<1, n>>>(texture_of(linear, cudaFilterModePoint, cudaReadModeElementType, 0),
                    texture_of(of_array(numbers), cudaFilterModePoint, cudaReadModeElementType, 0),
                    texture_of(of_array(gathered), cudaFilterModeLinear, cudaReadModeElementType, 1),
                    texture_of(of_array(pixels), cudaFilterModePoint, cudaReadModeNormalizedFloat, 0),
                    texture_of(of_array(block), cudaFilterModePoint, cudaReadModeElementType, 0),
                    texture_of(of_array(layers), cudaFilterModePoint, cudaReadModeElementType, 0), out);
    finish();
    for (int i = 0; i < n; i++) {
        int x = i % width, y = i / width;
        const float *is = out + i * 12;
        float above = 0.75f * at(v, x, y - 1) + 0.25f * at(v, x + 1, y - 1);
        float here = 0.75f * at(v, x, y) + 0.25f * at(v, x + 1, y);
        expect("tex1Dfetch", i, is[0], v[i]);
        expect("tex2D", i, is[1], v[i]);
        expect("tex2D, linear", i, is[2], 0.25f * above + 0.75f * here);
        expect("tex2D, red", i, is[3], colours[i].x / 255.0f);
        expect("tex2D, alpha", i, is[4], colours[i].w / 255.0f);
        expect("tex3D", i, is[5], v[i % depth * n + i]);
        expect("tex2DLayered", i, is[6], v[i % 3 * n + i]);
        expect("tex2DLod", i, is[7], v[i]);
        // Counterclockwise from the lower left.
        expect("tex2Dgather", i, is[8], at(v, x, y + 1));
        expect("tex2Dgather", i, is[9], at(v, x + 1, y + 1));
        expect("tex2Dgather", i, is[10], at(v, x + 1, y));
        expect("tex2Dgather", i, is[11], at(v, x, y));
    }

    cudaSurfaceObject_t surface[2];
    cudaResourceDesc memory[2] = {of_array(numbers), of_array(pixels)};
    for (int i = 0; i < 2; i++)
        CHECK(cudaCreateSurfaceObject(&surface[i], &memory[i]));
    *outside = 7;
    change<<<1, n>>>(surface[0], surface[1], outside);
    finish();
    static uchar4 changed[width * height];
    CHECK(cudaMemcpy2DFromArray(out, width * 4, numbers, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2DFromArray(changed, width * 4, pixels, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        expect("surface", i, out[i], 2 * v[i] + 1);
        expect("red", i, (int)changed[i].x, (int)colours[i].w);
        expect("green", i, (int)changed[i].y, (int)colours[i].z);
        expect("alpha", i, (int)changed[i].w, (int)colours[i].x);
    }
    expect("outside", 0, *outside, 0);
    return result();
}
