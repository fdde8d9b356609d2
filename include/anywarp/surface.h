/*
 * Anywarp's headers for GPU languages: surfaces. Columns are counted in bytes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_SURFACE_H
#define ANYWARP_SURFACE_H

#include <anywarp/texture.h>

#if defined(__HIP__)
typedef hipSurfaceObject_t anywarp_surface;
typedef int anywarp_boundary;
#define ANYWARP_BOUNDARY 0
#else
typedef cudaSurfaceObject_t anywarp_surface;
typedef cudaSurfaceBoundaryMode anywarp_boundary;
#define ANYWARP_BOUNDARY cudaBoundaryModeTrap
#endif

namespace anywarp {

#if defined(__NVPTX__)

/* One instruction: numbers of type `number`, in registers of type `word`. */
#define ANYWARP_LOAD1(form, mode, address, type, letter, word, number, ...)                                 \
    {                                                                                                       \
        word a;                                                                                             \
        __asm__ volatile("suld.b." form "." type mode " {%[a]}, [%[s], " address "];"                       \
                         : [a] "=" letter(a)                                                                \
                         : [s] "l"(s), __VA_ARGS__                                                          \
                         : "memory");                                                                       \
        number v[1] = {(number)a};                                                                          \
        __builtin_memcpy(at, v, sizeof(v));                                                                 \
    }
#define ANYWARP_LOAD2(form, mode, address, type, letter, word, number, ...)                                 \
    {                                                                                                       \
        word a, b;                                                                                          \
        __asm__ volatile("suld.b." form ".v2." type mode " {%[a], %[b]}, [%[s], " address "];"              \
                         : [a] "=" letter(a), [b] "=" letter(b)                                             \
                         : [s] "l"(s), __VA_ARGS__                                                          \
                         : "memory");                                                                       \
        number v[2] = {(number)a, (number)b};                                                               \
        __builtin_memcpy(at, v, sizeof(v));                                                                 \
    }
#define ANYWARP_LOAD4(form, mode, address, type, letter, word, number, ...)                                 \
    {                                                                                                       \
        word a, b, c, d;                                                                                    \
        __asm__ volatile("suld.b." form ".v4." type mode " {%[a], %[b], %[c], %[d]}, [%[s], " address "];"  \
                         : [a] "=" letter(a), [b] "=" letter(b), [c] "=" letter(c), [d] "=" letter(d)       \
                         : [s] "l"(s), __VA_ARGS__                                                          \
                         : "memory");                                                                       \
        number v[4] = {(number)a, (number)b, (number)c, (number)d};                                         \
        __builtin_memcpy(at, v, sizeof(v));                                                                 \
    }
#define ANYWARP_STORE1(form, mode, address, type, letter, word, number, ...)                                \
    {                                                                                                       \
        number v[1];                                                                                        \
        __builtin_memcpy(v, at, sizeof(v));                                                                 \
        __asm__ volatile("sust.b." form "." type mode " [%[s], " address "], {%[a]};" ::[a] letter((word)v[0]), \
                         [s] "l"(s), __VA_ARGS__                                                            \
                         : "memory");                                                                       \
    }
#define ANYWARP_STORE2(form, mode, address, type, letter, word, number, ...)                                \
    {                                                                                                       \
        number v[2];                                                                                        \
        __builtin_memcpy(v, at, sizeof(v));                                                                 \
        __asm__ volatile("sust.b." form ".v2." type mode                                                    \
                         " [%[s], " address "], {%[a], %[b]};" ::[a] letter((word)v[0]), [b] letter((word)v[1]), \
                         [s] "l"(s), __VA_ARGS__                                                            \
                         : "memory");                                                                       \
    }
#define ANYWARP_STORE4(form, mode, address, type, letter, word, number, ...)                                \
    {                                                                                                       \
        number v[4];                                                                                        \
        __builtin_memcpy(v, at, sizeof(v));                                                                 \
        __asm__ volatile("sust.b." form ".v4." type mode                                                    \
                         " [%[s], " address "], {%[a], %[b], %[c], %[d]};" ::[a] letter((word)v[0]),        \
                         [b] letter((word)v[1]), [c] letter((word)v[2]), [d] letter((word)v[3]), [s] "l"(s), __VA_ARGS__ \
                         : "memory");                                                                       \
    }

/* The instruction for an element of `size` bytes with `count` numbers. */
#define ANYWARP_NUMBERS_OF(which, form, mode, address, type, letter, word, number, ...)                     \
    if (size == count * sizeof(number)) {                                                                   \
        if (count == 1)                                                                                     \
            which##1(form, mode, address, type, letter, word, number, __VA_ARGS__)                          \
        else if (count == 2)                                                                                \
            which##2(form, mode, address, type, letter, word, number, __VA_ARGS__)                          \
        else                                                                                                \
            which##4(form, mode, address, type, letter, word, number, __VA_ARGS__)                          \
    }
#define ANYWARP_IN_MODE(which, form, mode, address, ...)                                                    \
    ANYWARP_NUMBERS_OF(which, form, mode, address, "b8", "h", unsigned short, unsigned char, __VA_ARGS__)   \
    ANYWARP_NUMBERS_OF(which, form, mode, address, "b16", "h", unsigned short, unsigned short, __VA_ARGS__) \
    ANYWARP_NUMBERS_OF(which, form, mode, address, "b32", "r", unsigned, unsigned, __VA_ARGS__)             \
    if (size == count * 8) {                                                                                \
        if (count == 1)                                                                                     \
            which##1(form, mode, address, "b64", "l", unsigned long long, unsigned long long, __VA_ARGS__)  \
        else                                                                                                \
            which##2(form, mode, address, "b64", "l", unsigned long long, unsigned long long, __VA_ARGS__)  \
    }
#define ANYWARP_MOVE(name, which, form, address, parameters, ...)                                           \
    template <class T> ANYWARP_DEVICE void name(T *at, anywarp_surface s, int mode, parameters) {           \
        const unsigned size = sizeof(T), count = texel<T>::count;                                           \
        static_assert(count != 3 && size <= 16, "an element has 1, 2 or 4 numbers and at most 16 bytes");   \
        if (mode == 0) {                                                                                    \
            ANYWARP_IN_MODE(which, form, ".zero", address, __VA_ARGS__)                                     \
        } else if (mode == 1) {                                                                             \
            ANYWARP_IN_MODE(which, form, ".clamp", address, __VA_ARGS__)                                    \
        } else {                                                                                            \
            ANYWARP_IN_MODE(which, form, ".trap", address, __VA_ARGS__)                                     \
        }                                                                                                   \
    }
#define P(...) __VA_ARGS__
#define ANYWARP_BOTH_WAYS(name, form, address, parameters, ...)                                             \
    ANYWARP_MOVE(load##name, ANYWARP_LOAD, form, address, P(parameters), __VA_ARGS__)                       \
    ANYWARP_MOVE(store##name, ANYWARP_STORE, form, address, P(parameters), __VA_ARGS__)
ANYWARP_BOTH_WAYS(1, "1d", "{%[x]}", P(int x), [x] "r"(x))
ANYWARP_BOTH_WAYS(2, "2d", "{%[x], %[y]}", P(int x, int y), [x] "r"(x), [y] "r"(y))
ANYWARP_BOTH_WAYS(3, "3d", "{%[x], %[y], %[z], %[z]}", P(int x, int y, int z), [x] "r"(x), [y] "r"(y), [z] "r"(z))
ANYWARP_BOTH_WAYS(_layer1, "a1d", "{%[z], %[x]}", P(int x, int z), [x] "r"(x), [z] "r"(z))
ANYWARP_BOTH_WAYS(_layer2, "a2d", "{%[z], %[x], %[y], %[y]}", P(int x, int y, int z), [x] "r"(x), [y] "r"(y), [z] "r"(z))
#undef P
#undef ANYWARP_BOTH_WAYS
#undef ANYWARP_MOVE
#undef ANYWARP_IN_MODE
#undef ANYWARP_NUMBERS_OF
#undef ANYWARP_LOAD1
#undef ANYWARP_LOAD2
#undef ANYWARP_LOAD4
#undef ANYWARP_STORE1
#undef ANYWARP_STORE2
#undef ANYWARP_STORE4

#elif defined(__AMDGCN__)

/* The instructions count columns in elements, and the descriptor says how a number is stored. */
#define ANYWARP_IMAGE(name, of_llvm, parameters, columns, ...)                                              \
    extern "C" __device__ image_floats anywarp_image_load##name(int, __VA_ARGS__, image_descriptor, int, int)  \
        __asm("llvm.amdgcn.image.load." of_llvm ".v4f32.i32");                                              \
    extern "C" __device__ void anywarp_image_store##name(image_floats, int, __VA_ARGS__, image_descriptor, int, int) \
        __asm("llvm.amdgcn.image.store." of_llvm ".v4f32.i32");                                             \
    template <class T> ANYWARP_DEVICE void load##name(T *at, anywarp_surface s, int, parameters) {          \
        image_descriptor image = ((image_object)(unsigned long long)s)->image;                              \
        *at = element<T>(texels_of<typename texel<T>::word>(anywarp_image_load##name(15, columns, image, 0, 0))); \
    }                                                                                                       \
    template <class T> ANYWARP_DEVICE void store##name(const T *at, anywarp_surface s, int, parameters) {   \
        image_descriptor image = ((image_object)(unsigned long long)s)->image;                              \
        anywarp_image_store##name(floats_of(*at), 15, columns, image, 0, 0);                                \
    }
template <class T> ANYWARP_DEVICE image_floats floats_of(T v) {
    typename texel<T>::number from[texel<T>::count];
    typename texel<T>::word to[4] = {};
    __builtin_memcpy(from, &v, sizeof(T));
    for (int i = 0; i < texel<T>::count; i++)
        to[i] = (typename texel<T>::word)from[i];
    image_floats result;
    __builtin_memcpy(&result, to, sizeof(to));
    return result;
}
#define P(...) __VA_ARGS__
#if !defined(__gfx940__) && !defined(__gfx941__) && !defined(__gfx942__) && !defined(__gfx950__)
ANYWARP_IMAGE(1, "1d", P(int x), P(x / (int)sizeof(T)), int)
ANYWARP_IMAGE(2, "2d", P(int x, int y), P(x / (int)sizeof(T), y), int, int)
ANYWARP_IMAGE(3, "3d", P(int x, int y, int z), P(x / (int)sizeof(T), y, z), int, int, int)
ANYWARP_IMAGE(_layer1, "1darray", P(int x, int z), P(x / (int)sizeof(T), z), int, int)
ANYWARP_IMAGE(_layer2, "2darray", P(int x, int y, int z), P(x / (int)sizeof(T), y, z), int, int, int)
#endif
#undef P
#undef ANYWARP_IMAGE

#else

/* The host's pass only checks types. */
#define ANYWARP_BOTH_WAYS(name)                                                                             \
    template <class T, class... A> __device__ void load##name(T *, anywarp_surface, int, A...); \
    template <class T, class... A> __device__ void store##name(const T *, anywarp_surface, int, A...);
ANYWARP_BOTH_WAYS(1)
ANYWARP_BOTH_WAYS(2)
ANYWARP_BOTH_WAYS(3)
ANYWARP_BOTH_WAYS(_layer1)
ANYWARP_BOTH_WAYS(_layer2)
#undef ANYWARP_BOTH_WAYS

#endif

/* The modes are numbered as CUDA does: zero, clamp, trap. */
ANYWARP_DEVICE int boundary(anywarp_boundary mode) {
#if defined(__HIP__)
    return mode ? 3 - mode : 0;
#else
    return mode;
#endif
}

} // namespace anywarp

/* A function that returns the element, one that stores it in memory, and one that writes it to the surface. */
#define ANYWARP_SURFACE(name, by, parameters, ...)                                                          \
    template <class T>                                                                                      \
    ANYWARP_DEVICE void name##read(T *to, anywarp_surface s, parameters, anywarp_boundary mode = ANYWARP_BOUNDARY) { \
        anywarp::load##by(to, s, anywarp::boundary(mode), __VA_ARGS__);                                     \
    }                                                                                                       \
    template <class T>                                                                                      \
    ANYWARP_DEVICE T name##read(anywarp_surface s, parameters, anywarp_boundary mode = ANYWARP_BOUNDARY) {  \
        T v;                                                                                                \
        anywarp::load##by(&v, s, anywarp::boundary(mode), __VA_ARGS__);                                     \
        return v;                                                                                           \
    }                                                                                                       \
    template <class T>                                                                                      \
    ANYWARP_DEVICE void name##write(T v, anywarp_surface s, parameters, anywarp_boundary mode = ANYWARP_BOUNDARY) { \
        anywarp::store##by(&v, s, anywarp::boundary(mode), __VA_ARGS__);                                    \
    }
#define P(...) __VA_ARGS__
#if !defined(__gfx940__) && !defined(__gfx941__) && !defined(__gfx942__) && !defined(__gfx950__)
ANYWARP_SURFACE(surf1D, 1, P(int x), x)
ANYWARP_SURFACE(surf2D, 2, P(int x, int y), x, y)
ANYWARP_SURFACE(surf3D, 3, P(int x, int y, int z), x, y, z)
ANYWARP_SURFACE(surf1DLayered, _layer1, P(int x, int layer), x, layer)
ANYWARP_SURFACE(surf2DLayered, _layer2, P(int x, int y, int layer), x, y, layer)
ANYWARP_SURFACE(surfCubemap, _layer2, P(int x, int y, int face), x, y, face)
ANYWARP_SURFACE(surfCubemapLayered, _layer2, P(int x, int y, int face), x, y, face)
#endif
#undef P
#undef ANYWARP_SURFACE

#endif
