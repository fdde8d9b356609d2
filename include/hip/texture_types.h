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

typedef struct __hip_surface *hipSurfaceObject_t;

struct surfaceReference {
    hipSurfaceObject_t surfaceObject;
};

enum hipSurfaceBoundaryMode {
    hipBoundaryModeZero = 0,
    hipBoundaryModeTrap = 1,
    hipBoundaryModeClamp = 2,
};

typedef struct textureReference *hipTexRef;

#endif
