/*
 * Anywarp's declaration of HIP: descriptions of texels of 16-bit floats. Those of other types are a template,
 * with the textures.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_CHANNEL_DESCRIPTOR_H
#define ANYWARP_HIP_CHANNEL_DESCRIPTOR_H

#include <hip/hip_runtime_api.h>

#ifdef __cplusplus
static inline hipChannelFormatDesc hipCreateChannelDescHalf() {
    return hipCreateChannelDesc(16, 0, 0, 0, hipChannelFormatKindFloat);
}
static inline hipChannelFormatDesc hipCreateChannelDescHalf1() { return hipCreateChannelDescHalf(); }
static inline hipChannelFormatDesc hipCreateChannelDescHalf2() {
    return hipCreateChannelDesc(16, 16, 0, 0, hipChannelFormatKindFloat);
}
static inline hipChannelFormatDesc hipCreateChannelDescHalf4() {
    return hipCreateChannelDesc(16, 16, 16, 16, hipChannelFormatKindFloat);
}
#endif

#endif
