/*
 * Anywarp's headers for GPU languages: textures. A fetch gives four numbers of 32 bits (`texels`), of which the
 * element type takes what it has.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_TEXTURE_H
#define ANYWARP_TEXTURE_H

#include <anywarp/target.h>

#if defined(__HIP__)
typedef hipTextureObject_t anywarp_texture;
#else
typedef cudaTextureObject_t anywarp_texture;
#endif

namespace anywarp {

/* What a fetch of type `word` (float, int or unsigned) gives. */
template <class word> struct texels {
    word part[4];
};

/* An element type: `count` numbers of type `number`, fetched as `word`. */
template <class T> struct texel;
#define ANYWARP_TEXEL(T, number_, word_, count_)                                                            \
    template <> struct texel<T> {                                                                           \
        typedef number_ number;                                                                             \
        typedef word_ word;                                                                                 \
        static const int count = count_;                                                                    \
    };
#define ANYWARP_TEXELS(name, number, word)                                                                  \
    ANYWARP_TEXEL(number, number, word, 1)                                                                  \
    ANYWARP_TEXEL(name##1, number, word, 1)                                                                 \
    ANYWARP_TEXEL(name##2, number, word, 2)                                                                 \
    ANYWARP_TEXEL(name##3, number, word, 3)                                                                 \
    ANYWARP_TEXEL(name##4, number, word, 4)
#if defined(__HIP__)
ANYWARP_TEXELS(char, char, int)
ANYWARP_TEXEL(signed char, signed char, int, 1)
#else
ANYWARP_TEXELS(char, signed char, int)
ANYWARP_TEXEL(char, char, int, 1)
#endif
ANYWARP_TEXELS(uchar, unsigned char, unsigned)
ANYWARP_TEXELS(short, short, int)
ANYWARP_TEXELS(ushort, unsigned short, unsigned)
ANYWARP_TEXELS(int, int, int)
ANYWARP_TEXELS(uint, unsigned, unsigned)
ANYWARP_TEXELS(longlong, long long, int)
ANYWARP_TEXELS(ulonglong, unsigned long long, unsigned)
ANYWARP_TEXELS(float, float, float)
#undef ANYWARP_TEXELS
#undef ANYWARP_TEXEL

template <class T> ANYWARP_DEVICE T element(texels<typename texel<T>::word> from) {
    typename texel<T>::number parts[texel<T>::count];
    for (int i = 0; i < texel<T>::count; i++)
        parts[i] = (typename texel<T>::number)from.part[i];
    T to;
    __builtin_memcpy(&to, parts, sizeof(T));
    return to;
}

#if defined(__NVPTX__)

/* An instruction with its three types of results. `form` is what stands between the opcode and the types, and
   the lists begin with a comma. */
#define ANYWARP_FETCH_AS(word, letter, type, name, parameters, opcode, of, address, arguments)              \
    ANYWARP_DEVICE texels<word> name parameters {                                                           \
        texels<word> r;                                                                                     \
        __asm__ volatile(opcode ".v4." type of " {%0, %1, %2, %3}, [%4, " address ";"                       \
                         : "=" letter(r.part[0]), "=" letter(r.part[1]), "=" letter(r.part[2]),             \
                           "=" letter(r.part[3])                                                            \
                         : "l"(t), arguments);                                                              \
        return r;                                                                                           \
    }
#define ANYWARP_LIST(...) __VA_ARGS__
#define ANYWARP_FETCH(name, parameters, opcode, of, address, arguments)                                     \
    ANYWARP_FETCH_AS(float, "f", "f32", name, (anywarp_texture t, float, parameters), opcode, of, address,  \
                     ANYWARP_LIST(arguments))                                                               \
    ANYWARP_FETCH_AS(int, "r", "s32", name, (anywarp_texture t, int, parameters), opcode, of, address,      \
                     ANYWARP_LIST(arguments))                                                               \
    ANYWARP_FETCH_AS(unsigned, "r", "u32", name, (anywarp_texture t, unsigned, parameters), opcode, of, address, \
                     ANYWARP_LIST(arguments))
#define P ANYWARP_LIST
ANYWARP_FETCH(fetch1, P(int x), "tex.1d", ".s32", "{%5}]", P("r"(x)))
ANYWARP_FETCH(sample1, P(float x), "tex.1d", ".f32", "{%5}]", P("f"(x)))
ANYWARP_FETCH(sample1_lod, P(float x, float l), "tex.level.1d", ".f32", "{%5}], %6", P("f"(x), "f"(l)))
ANYWARP_FETCH(sample1_grad, P(float x, float dx, float dy), "tex.grad.1d", ".f32", "{%5}], {%6}, {%7}",
              P("f"(x), "f"(dx), "f"(dy)))
ANYWARP_FETCH(sample2, P(float x, float y), "tex.2d", ".f32", "{%5, %6}]", P("f"(x), "f"(y)))
ANYWARP_FETCH(sample2_lod, P(float x, float y, float l), "tex.level.2d", ".f32", "{%5, %6}], %7",
              P("f"(x), "f"(y), "f"(l)))
ANYWARP_FETCH(sample2_grad, P(float x, float y, float2 dx, float2 dy), "tex.grad.2d", ".f32",
              "{%5, %6}], {%7, %8}, {%9, %10}", P("f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
ANYWARP_FETCH(sample3, P(float x, float y, float z), "tex.3d", ".f32", "{%5, %6, %7, %7}]", P("f"(x), "f"(y), "f"(z)))
ANYWARP_FETCH(sample3_lod, P(float x, float y, float z, float l), "tex.level.3d", ".f32", "{%5, %6, %7, %7}], %8",
              P("f"(x), "f"(y), "f"(z), "f"(l)))
ANYWARP_FETCH(sample3_grad, P(float x, float y, float z, float4 dx, float4 dy), "tex.grad.3d", ".f32",
              "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}",
              P("f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))
ANYWARP_FETCH(layer1, P(float x, int n), "tex.a1d", ".f32", "{%6, %5}]", P("f"(x), "r"(n)))
ANYWARP_FETCH(layer1_lod, P(float x, int n, float l), "tex.level.a1d", ".f32", "{%6, %5}], %7",
              P("f"(x), "r"(n), "f"(l)))
ANYWARP_FETCH(layer1_grad, P(float x, int n, float dx, float dy), "tex.grad.a1d", ".f32", "{%6, %5}], {%7}, {%8}",
              P("f"(x), "r"(n), "f"(dx), "f"(dy)))
ANYWARP_FETCH(layer2, P(float x, float y, int n), "tex.a2d", ".f32", "{%7, %5, %6, %6}]", P("f"(x), "f"(y), "r"(n)))
ANYWARP_FETCH(layer2_lod, P(float x, float y, int n, float l), "tex.level.a2d", ".f32", "{%7, %5, %6, %6}], %8",
              P("f"(x), "f"(y), "r"(n), "f"(l)))
ANYWARP_FETCH(layer2_grad, P(float x, float y, int n, float2 dx, float2 dy), "tex.grad.a2d", ".f32",
              "{%7, %5, %6, %6}], {%8, %9}, {%10, %11}",
              P("f"(x), "f"(y), "r"(n), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
ANYWARP_FETCH(cube, P(float x, float y, float z), "tex.cube", ".f32", "{%5, %6, %7, %7}]", P("f"(x), "f"(y), "f"(z)))
ANYWARP_FETCH(cube_lod, P(float x, float y, float z, float l), "tex.level.cube", ".f32", "{%5, %6, %7, %7}], %8",
              P("f"(x), "f"(y), "f"(z), "f"(l)))
ANYWARP_FETCH(cube_layer, P(float x, float y, float z, int n), "tex.acube", ".f32", "{%8, %5, %6, %7}]",
              P("f"(x), "f"(y), "f"(z), "r"(n)))
ANYWARP_FETCH(cube_layer_lod, P(float x, float y, float z, int n, float l), "tex.level.acube", ".f32",
              "{%8, %5, %6, %7}], %9", P("f"(x), "f"(y), "f"(z), "r"(n), "f"(l)))
ANYWARP_FETCH(gather_r, P(float x, float y), "tld4.r.2d", ".f32", "{%5, %6}]", P("f"(x), "f"(y)))
ANYWARP_FETCH(gather_g, P(float x, float y), "tld4.g.2d", ".f32", "{%5, %6}]", P("f"(x), "f"(y)))
ANYWARP_FETCH(gather_b, P(float x, float y), "tld4.b.2d", ".f32", "{%5, %6}]", P("f"(x), "f"(y)))
ANYWARP_FETCH(gather_a, P(float x, float y), "tld4.a.2d", ".f32", "{%5, %6}]", P("f"(x), "f"(y)))
#undef P
#undef ANYWARP_FETCH
#undef ANYWARP_FETCH_AS
#undef ANYWARP_LIST
template <class word> ANYWARP_DEVICE texels<word> gather(anywarp_texture t, word as, float x, float y, int which) {
    return which == 0 ? gather_r(t, as, x, y) : which == 1 ? gather_g(t, as, x, y)
         : which == 2 ? gather_b(t, as, x, y) : gather_a(t, as, x, y);
}

#elif defined(__AMDGCN__)

/* An object is the address of a record with the descriptors of the image and the sampler. */
typedef float image_floats __attribute__((ext_vector_type(4)));
typedef int image_words __attribute__((ext_vector_type(4)));
typedef int image_descriptor __attribute__((ext_vector_type(8)));
struct image_record {
    image_descriptor image;
    int more[4];
    image_words sampler;
};
typedef const image_record __attribute__((address_space(4))) *image_object;
#define ANYWARP_OBJECT(t) ((image_object)(unsigned long long)(t))

#define ANYWARP_INTRINSIC(name, of_llvm, ...)                                                               \
    extern "C" __device__ image_floats name(int, __VA_ARGS__, image_descriptor, image_words, bool, int, int) \
        __asm("llvm.amdgcn.image." of_llvm);
extern "C" __device__ image_floats anywarp_image_fetch1(image_words, int, int, int, int) __asm(
    "llvm.amdgcn.struct.buffer.load.format.v4f32");
#if !defined(__gfx940__) && !defined(__gfx941__) && !defined(__gfx942__) && !defined(__gfx950__)
#if defined(__gfx90a__)
/* It has no instructions that name a level. */
#define ANYWARP_BASE "sample."
#else
#define ANYWARP_BASE "sample.lz."
#endif
ANYWARP_INTRINSIC(anywarp_image_1, ANYWARP_BASE "1d.v4f32.f32", float)
ANYWARP_INTRINSIC(anywarp_image_2, ANYWARP_BASE "2d.v4f32.f32", float, float)
ANYWARP_INTRINSIC(anywarp_image_3, ANYWARP_BASE "3d.v4f32.f32", float, float, float)
ANYWARP_INTRINSIC(anywarp_image_layer1, ANYWARP_BASE "1darray.v4f32.f32", float, float)
ANYWARP_INTRINSIC(anywarp_image_layer2, ANYWARP_BASE "2darray.v4f32.f32", float, float, float)
#undef ANYWARP_BASE
#if !defined(__gfx90a__)
ANYWARP_INTRINSIC(anywarp_image_1_lod, "sample.l.1d.v4f32.f32", float, float)
ANYWARP_INTRINSIC(anywarp_image_2_lod, "sample.l.2d.v4f32.f32", float, float, float)
ANYWARP_INTRINSIC(anywarp_image_3_lod, "sample.l.3d.v4f32.f32", float, float, float, float)
ANYWARP_INTRINSIC(anywarp_image_1_grad, "sample.d.1d.v4f32.f32.f32", float, float, float)
ANYWARP_INTRINSIC(anywarp_image_2_grad, "sample.d.2d.v4f32.f32.f32", float, float, float, float, float, float)
ANYWARP_INTRINSIC(anywarp_image_gather, "gather4.lz.2d.v4f32.f32", float, float)
#endif
#endif
#undef ANYWARP_INTRINSIC

/* The numbers' bits are those of integers if the image holds integers. */
template <class word> ANYWARP_DEVICE texels<word> texels_of(image_floats v) {
    return __builtin_bit_cast(texels<word>, v);
}
template <class word> ANYWARP_DEVICE texels<word> fetch1(anywarp_texture t, word, int x) {
    image_words buffer = ANYWARP_OBJECT(t)->image.lo;
    return texels_of<word>(anywarp_image_fetch1(buffer, x, 0, 0, 0));
}
#define ANYWARP_SAMPLE(name, intrinsic, mask, parameters, ...)                                              \
    template <class word> ANYWARP_DEVICE texels<word> name parameters {                                     \
        image_object o = ANYWARP_OBJECT(t);                                                                 \
        return texels_of<word>(intrinsic(mask, __VA_ARGS__, o->image, o->sampler, false, 0, 0));            \
    }
#if !defined(__gfx940__) && !defined(__gfx941__) && !defined(__gfx942__) && !defined(__gfx950__)
ANYWARP_SAMPLE(sample1, anywarp_image_1, 15, (anywarp_texture t, word, float x), x)
ANYWARP_SAMPLE(sample2, anywarp_image_2, 15, (anywarp_texture t, word, float x, float y), x, y)
ANYWARP_SAMPLE(sample3, anywarp_image_3, 15, (anywarp_texture t, word, float x, float y, float z), x, y, z)
ANYWARP_SAMPLE(layer1, anywarp_image_layer1, 15, (anywarp_texture t, word, float x, int n), x, (float)n)
ANYWARP_SAMPLE(layer2, anywarp_image_layer2, 15, (anywarp_texture t, word, float x, float y, int n), x, y, (float)n)
#if !defined(__gfx90a__)
ANYWARP_SAMPLE(sample1_lod, anywarp_image_1_lod, 15, (anywarp_texture t, word, float x, float l), x, l)
ANYWARP_SAMPLE(sample2_lod, anywarp_image_2_lod, 15, (anywarp_texture t, word, float x, float y, float l), x, y, l)
ANYWARP_SAMPLE(sample3_lod, anywarp_image_3_lod, 15, (anywarp_texture t, word, float x, float y, float z, float l), x, y,
               z, l)
ANYWARP_SAMPLE(sample1_grad, anywarp_image_1_grad, 15, (anywarp_texture t, word, float x, float dx, float dy), dx, dy, x)
ANYWARP_SAMPLE(sample2_grad, anywarp_image_2_grad, 15, (anywarp_texture t, word, float x, float y, float2 dx, float2 dy),
               dx.x, dx.y, dy.x, dy.y, x, y)
ANYWARP_SAMPLE(gather_r, anywarp_image_gather, 1, (anywarp_texture t, word, float x, float y), x, y)
ANYWARP_SAMPLE(gather_g, anywarp_image_gather, 2, (anywarp_texture t, word, float x, float y), x, y)
ANYWARP_SAMPLE(gather_b, anywarp_image_gather, 4, (anywarp_texture t, word, float x, float y), x, y)
ANYWARP_SAMPLE(gather_a, anywarp_image_gather, 8, (anywarp_texture t, word, float x, float y), x, y)
template <class word> ANYWARP_DEVICE texels<word> gather(anywarp_texture t, word as, float x, float y, int which) {
    return which == 0 ? gather_r(t, as, x, y) : which == 1 ? gather_g(t, as, x, y)
         : which == 2 ? gather_b(t, as, x, y) : gather_a(t, as, x, y);
}
#endif
#endif
#undef ANYWARP_SAMPLE
#undef ANYWARP_OBJECT

#else

/* The host's pass only checks types. */
template <class word, class... A> __device__ texels<word> fetch1(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample1(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample1_lod(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample1_grad(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample2(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample2_lod(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample2_grad(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample3(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample3_lod(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> sample3_grad(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> layer1(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> layer1_lod(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> layer1_grad(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> layer2(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> layer2_lod(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> layer2_grad(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> cube(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> cube_lod(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> cube_layer(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> cube_layer_lod(anywarp_texture, word, A...);
template <class word, class... A> __device__ texels<word> gather(anywarp_texture, word, A...);

#endif

} // namespace anywarp

#if defined(__HIP__) && !(defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN__))

/* What a fetch from a texture at file scope gives: the element, or numbers from 0 to 1 or from -1 to 1. */
template <class T, hipTextureReadMode mode> struct anywarp_fetched {
    typedef T type;
};
#define ANYWARP_FRACTIONS(name, number)                                                                     \
    template <> struct anywarp_fetched<number, hipReadModeNormalizedFloat> {                                \
        typedef float type;                                                                                 \
    };                                                                                                      \
    template <> struct anywarp_fetched<name##1, hipReadModeNormalizedFloat> {                               \
        typedef float1 type;                                                                                \
    };                                                                                                      \
    template <> struct anywarp_fetched<name##2, hipReadModeNormalizedFloat> {                               \
        typedef float2 type;                                                                                \
    };                                                                                                      \
    template <> struct anywarp_fetched<name##4, hipReadModeNormalizedFloat> {                               \
        typedef float4 type;                                                                                \
    };
ANYWARP_FRACTIONS(char, char)
ANYWARP_FRACTIONS(uchar, unsigned char)
ANYWARP_FRACTIONS(short, short)
ANYWARP_FRACTIONS(ushort, unsigned short)
#undef ANYWARP_FRACTIONS

/* The handle of a texture at file scope, which the compiler passes in the texture's place. */
template <class T, int dimensions, hipTextureReadMode mode>
ANYWARP_DEVICE anywarp_texture anywarp_handle(texture<T, dimensions, mode> t) {
    unsigned long long handle;
    __asm__("mov.b64 %0, %1;" : "=l"(handle) : "l"(t));
    return (anywarp_texture)handle;
}

/* The same function of such a texture. */
#define ANYWARP_FILE_SCOPE_TEXTURE(name, parameters, ...)                                                   \
    template <class T, int dimensions, hipTextureReadMode mode>                                             \
    ANYWARP_DEVICE typename anywarp_fetched<T, mode>::type name(texture<T, dimensions, mode> t, parameters) { \
        return name<typename anywarp_fetched<T, mode>::type>(anywarp_handle(t), __VA_ARGS__);               \
    }
#else
#define ANYWARP_FILE_SCOPE_TEXTURE(name, parameters, ...)
#endif

/* A function that returns the element, one that writes it, and that of a texture at file scope. */
#define ANYWARP_TEXTURE(name, fetch, parameters, ...)                                                       \
    template <class T> ANYWARP_DEVICE T name(anywarp_texture t, parameters) {                               \
        return anywarp::element<T>(anywarp::fetch(t, typename anywarp::texel<T>::word(), __VA_ARGS__));     \
    }                                                                                                       \
    template <class T> ANYWARP_DEVICE void name(T *to, anywarp_texture t, parameters) {                     \
        *to = anywarp::element<T>(anywarp::fetch(t, typename anywarp::texel<T>::word(), __VA_ARGS__));      \
    }                                                                                                       \
    ANYWARP_FILE_SCOPE_TEXTURE(name, P(parameters), __VA_ARGS__)
#define P(...) __VA_ARGS__
ANYWARP_TEXTURE(tex1Dfetch, fetch1, P(int x), x)
#if !defined(__gfx940__) && !defined(__gfx941__) && !defined(__gfx942__) && !defined(__gfx950__)
ANYWARP_TEXTURE(tex1D, sample1, P(float x), x)
ANYWARP_TEXTURE(tex2D, sample2, P(float x, float y), x, y)
ANYWARP_TEXTURE(tex3D, sample3, P(float x, float y, float z), x, y, z)
ANYWARP_TEXTURE(tex1DLayered, layer1, P(float x, int layer), x, layer)
ANYWARP_TEXTURE(tex2DLayered, layer2, P(float x, float y, int layer), x, y, layer)
#if !defined(__gfx90a__)
ANYWARP_TEXTURE(tex1DLod, sample1_lod, P(float x, float level), x, level)
ANYWARP_TEXTURE(tex2DLod, sample2_lod, P(float x, float y, float level), x, y, level)
ANYWARP_TEXTURE(tex3DLod, sample3_lod, P(float x, float y, float z, float level), x, y, z, level)
ANYWARP_TEXTURE(tex1DGrad, sample1_grad, P(float x, float dx, float dy), x, dx, dy)
ANYWARP_TEXTURE(tex2DGrad, sample2_grad, P(float x, float y, float2 dx, float2 dy), x, y, dx, dy)
ANYWARP_TEXTURE(tex2Dgather, gather, P(float x, float y, int which = 0), x, y, which)
#endif
#endif
#if !defined(__AMDGCN__)
ANYWARP_TEXTURE(tex3DGrad, sample3_grad, P(float x, float y, float z, float4 dx, float4 dy), x, y, z, dx, dy)
ANYWARP_TEXTURE(tex1DLayeredLod, layer1_lod, P(float x, int layer, float level), x, layer, level)
ANYWARP_TEXTURE(tex2DLayeredLod, layer2_lod, P(float x, float y, int layer, float level), x, y, layer, level)
ANYWARP_TEXTURE(tex1DLayeredGrad, layer1_grad, P(float x, int layer, float dx, float dy), x, layer, dx, dy)
ANYWARP_TEXTURE(tex2DLayeredGrad, layer2_grad, P(float x, float y, int layer, float2 dx, float2 dy), x, y, layer, dx, dy)
ANYWARP_TEXTURE(texCubemap, cube, P(float x, float y, float z), x, y, z)
ANYWARP_TEXTURE(texCubemapLod, cube_lod, P(float x, float y, float z, float level), x, y, z, level)
ANYWARP_TEXTURE(texCubemapLayered, cube_layer, P(float x, float y, float z, int layer), x, y, z, layer)
ANYWARP_TEXTURE(texCubemapLayeredLod, cube_layer_lod, P(float x, float y, float z, int layer, float level), x, y, z, layer,
                level)
#endif
#undef P
#undef ANYWARP_FILE_SCOPE_TEXTURE
#undef ANYWARP_TEXTURE

#endif
