/*
 * Anywarp's declaration of HIP: what tracers ask for. AMD numbers the functions differently in each release,
 * and our library calls no tracer, so no function has a number.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_PROF_STR_H
#define ANYWARP_HIP_HIP_PROF_STR_H

#include <stdint.h>

#define HIP_PROF_VER 1

enum hip_api_id_t {
    HIP_API_ID_NONE = 0
};

static inline const char *hip_api_name(const uint32_t id) {
    (void)id;
    return "unknown";
}
static inline uint32_t hipApiIdByName(const char *name) {
    (void)name;
    return HIP_API_ID_NONE;
}

#endif
