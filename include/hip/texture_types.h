/*
 * Anywarp's declaration of HIP, version 6.3: textures and surfaces.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_TEXTURE_TYPES_H
#define ANYWARP_HIP_TEXTURE_TYPES_H

#include <hip/driver_types.h>
#include <hip/surface_types.h>
#include <hip/hip_vector_types.h>

#define HIP_TRSA_OVERRIDE_FORMAT 0x01
#define HIP_TRSF_READ_AS_INTEGER 0x01
#define HIP_TRSF_NORMALIZED_COORDINATES 0x02
#define HIP_TRSF_SRGB 0x10
#define hipTextureType1D 0x01
#define hipTextureType2D 0x02
#define hipTextureType3D 0x03
#define hipTextureTypeCubemap 0x0C
#define hipTextureType1DLayered 0xF1
#define hipTextureType2DLayered 0xF2
#define hipTextureTypeCubemapLayered 0xFC

typedef struct __hip_texture *hipTextureObject_t;

enum hipTextureAddressMode {
    hipAddressModeWrap = 0,
    hipAddressModeClamp = 1,
    hipAddressModeMirror = 2,
    hipAddressModeBorder = 3,
};

enum hipTextureFilterMode {
    hipFilterModePoint = 0,
    hipFilterModeLinear = 1,
};

/* The same values under the driver API's names. */
typedef enum hipTextureAddressMode HIPaddress_mode;
#define HIP_TR_ADDRESS_MODE_WRAP ((enum hipTextureAddressMode)0)
#define HIP_TR_ADDRESS_MODE_CLAMP ((enum hipTextureAddressMode)1)
#define HIP_TR_ADDRESS_MODE_MIRROR ((enum hipTextureAddressMode)2)
#define HIP_TR_ADDRESS_MODE_BORDER ((enum hipTextureAddressMode)3)

typedef enum hipTextureFilterMode HIPfilter_mode;
#define HIP_TR_FILTER_MODE_POINT ((enum hipTextureFilterMode)0)
#define HIP_TR_FILTER_MODE_LINEAR ((enum hipTextureFilterMode)1)

enum hipTextureReadMode {
    hipReadModeElementType = 0,
    hipReadModeNormalizedFloat = 1,
};

typedef struct textureReference {
    int normalized;
    enum hipTextureReadMode readMode;
    enum hipTextureFilterMode filterMode;
    enum hipTextureAddressMode addressMode[3];
    struct hipChannelFormatDesc channelDesc;
    int sRGB;
    unsigned int maxAnisotropy;
    enum hipTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    hipTextureObject_t textureObject;
    int numChannels;
    enum hipArray_Format format;
} textureReference;

typedef struct hipTextureDesc {
    enum hipTextureAddressMode addressMode[3];
    enum hipTextureFilterMode filterMode;
    enum hipTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy;
    enum hipTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
} hipTextureDesc;

typedef struct HIP_TEXTURE_DESC_st {
    HIPaddress_mode addressMode[3];
    HIPfilter_mode filterMode;
    unsigned int flags;
    unsigned int maxAnisotropy;
    HIPfilter_mode mipmapFilterMode;
    float mipmapLevelBias;
    float minMipmapLevelClamp;
    float maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
} HIP_TEXTURE_DESC;

typedef struct textureReference *hipTexRef;

#ifdef __cplusplus

/* The channels of an element type; none for other types. */
template <class T> struct anywarpChannels {
    static hipChannelFormatDesc get() {
        hipChannelFormatDesc none = {0, 0, 0, 0, hipChannelFormatKindNone};
        return none;
    }
};

#define ANYWARP_HIP_CHANNELS(type, element, count, kind)                                                                      \
    template <> struct anywarpChannels<type> {                                                                                \
        static hipChannelFormatDesc get() {                                                                                   \
            const int bits = 8 * sizeof(element);                                                                             \
            hipChannelFormatDesc channels = {bits, (count) > 1 ? bits : 0, (count) > 2 ? bits : 0, (count) > 3 ? bits : 0,    \
                                             kind};                                                                           \
            return channels;                                                                                                  \
        }                                                                                                                     \
    };
#define ANYWARP_HIP_CHANNELS_OF(name, element, kind)                                                                          \
    ANYWARP_HIP_CHANNELS(element, element, 1, kind)                                                                           \
    ANYWARP_HIP_CHANNELS(name##1, element, 1, kind)                                                                           \
    ANYWARP_HIP_CHANNELS(name##2, element, 2, kind)                                                                           \
    ANYWARP_HIP_CHANNELS(name##3, element, 3, kind)                                                                           \
    ANYWARP_HIP_CHANNELS(name##4, element, 4, kind)

ANYWARP_HIP_CHANNELS_OF(char, char, hipChannelFormatKindSigned)
ANYWARP_HIP_CHANNELS(signed char, signed char, 1, hipChannelFormatKindSigned)
ANYWARP_HIP_CHANNELS_OF(uchar, unsigned char, hipChannelFormatKindUnsigned)
ANYWARP_HIP_CHANNELS_OF(short, short, hipChannelFormatKindSigned)
ANYWARP_HIP_CHANNELS_OF(ushort, unsigned short, hipChannelFormatKindUnsigned)
ANYWARP_HIP_CHANNELS_OF(int, int, hipChannelFormatKindSigned)
ANYWARP_HIP_CHANNELS_OF(uint, unsigned int, hipChannelFormatKindUnsigned)
ANYWARP_HIP_CHANNELS_OF(float, float, hipChannelFormatKindFloat)

template <class T> hipChannelFormatDesc hipCreateChannelDesc() { return anywarpChannels<T>::get(); }

/* A texture reference at file scope, as the porting guide declares it; device code reads it by its name. Host code
 * gets the module's reference by hipModuleGetTexRef, or binds this one if hip-clang's code has registered it. */
#if defined(__HIP__) && !(defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN__))
#define ANYWARP_HIP_FILE_SCOPE_TEXTURE __attribute__((device_builtin_texture_type))
#else
#define ANYWARP_HIP_FILE_SCOPE_TEXTURE
#endif
template <class T, int dimensions = hipTextureType1D, hipTextureReadMode mode = hipReadModeElementType>
struct ANYWARP_HIP_FILE_SCOPE_TEXTURE texture : public textureReference {
    explicit texture(int normalized_ = 0, hipTextureFilterMode filter = hipFilterModePoint,
                     hipTextureAddressMode address = hipAddressModeClamp) {
        init(normalized_, filter, address);
        channelDesc = hipCreateChannelDesc<T>();
    }

    texture(int normalized_, hipTextureFilterMode filter, hipTextureAddressMode address, hipChannelFormatDesc channels) {
        init(normalized_, filter, address);
        channelDesc = channels;
    }

private:
    void init(int normalized_, hipTextureFilterMode filter, hipTextureAddressMode address) {
        normalized = normalized_;
        readMode = mode;
        filterMode = filter;
        addressMode[0] = addressMode[1] = addressMode[2] = address;
        sRGB = 0;
        maxAnisotropy = 0;
        mipmapFilterMode = hipFilterModePoint;
        mipmapLevelBias = 0;
        minMipmapLevelClamp = 0;
        maxMipmapLevelClamp = 0;
        textureObject = 0;
        numChannels = 0;
        format = hipArray_Format();
    }
};

#endif

#endif
