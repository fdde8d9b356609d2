/*
 * Anywarp: NVIDIA's annotations for profilers. They do nothing.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_NV_TOOLS_EXT_H
#define ANYWARP_NV_TOOLS_EXT_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_INLINE_STATIC static __inline__
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef enum nvtxColorType_t {
    NVTX_COLOR_UNKNOWN = 0,
    NVTX_COLOR_ARGB = 1
} nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define ANYWARP_NVTX(T, name, parameters, value)                                                            \
    static __inline__ T name parameters { return value; }
#define ANYWARP_NVTX_NOTHING(name, parameters)                                                              \
    static __inline__ void name parameters {}
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
ANYWARP_NVTX_NOTHING(nvtxInitialize, (const void *reserved))
ANYWARP_NVTX_NOTHING(nvtxMarkA, (const char *message))
ANYWARP_NVTX_NOTHING(nvtxMarkW, (const wchar_t *message))
ANYWARP_NVTX_NOTHING(nvtxMarkEx, (const nvtxEventAttributes_t *event))
ANYWARP_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char *message), 0)
ANYWARP_NVTX(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t *message), 0)
ANYWARP_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *event), 0)
ANYWARP_NVTX_NOTHING(nvtxRangeEnd, (nvtxRangeId_t range))
ANYWARP_NVTX(int, nvtxRangePushA, (const char *message), 0)
ANYWARP_NVTX(int, nvtxRangePushW, (const wchar_t *message), 0)
ANYWARP_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t *event), 0)
ANYWARP_NVTX(int, nvtxRangePop, (void), 0)
ANYWARP_NVTX_NOTHING(nvtxNameOsThreadA, (uint32_t thread, const char *name))
ANYWARP_NVTX_NOTHING(nvtxNameCategoryA, (uint32_t category, const char *name))
ANYWARP_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *name), 0)
ANYWARP_NVTX_NOTHING(nvtxDomainDestroy, (nvtxDomainHandle_t domain))
ANYWARP_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t domain, const char *string), 0)
ANYWARP_NVTX_NOTHING(nvtxDomainNameCategoryA, (nvtxDomainHandle_t domain, uint32_t category, const char *name))
ANYWARP_NVTX_NOTHING(nvtxDomainMarkEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event))
ANYWARP_NVTX(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event), 0)
ANYWARP_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t domain), 0)
ANYWARP_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event), 0)
ANYWARP_NVTX_NOTHING(nvtxDomainRangeEnd, (nvtxDomainHandle_t domain, nvtxRangeId_t range))
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef ANYWARP_NVTX
#undef ANYWARP_NVTX_NOTHING

#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA

#endif
