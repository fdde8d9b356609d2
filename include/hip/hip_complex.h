/*
 * Anywarp: HIP's complex numbers are those of CUDA.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIP_COMPLEX_H
#define ANYWARP_HIP_HIP_COMPLEX_H

#include <hip/hip_vector_types.h>

#include <cuComplex.h>

typedef cuFloatComplex hipFloatComplex;
typedef cuDoubleComplex hipDoubleComplex;
typedef cuComplex hipComplex;
#define make_hipFloatComplex make_cuFloatComplex
#define make_hipDoubleComplex make_cuDoubleComplex
#define make_hipComplex make_cuComplex
#define hipComplexFloatToDouble cuComplexFloatToDouble
#define hipComplexDoubleToFloat cuComplexDoubleToFloat
#define hipCrealf cuCrealf
#define hipCimagf cuCimagf
#define hipConjf cuConjf
#define hipCaddf cuCaddf
#define hipCsubf cuCsubf
#define hipCmulf cuCmulf
#define hipCdivf cuCdivf
#define hipCabsf cuCabsf
#define hipCfmaf cuCfmaf
#define hipCreal cuCreal
#define hipCimag cuCimag
#define hipConj cuConj
#define hipCadd cuCadd
#define hipCsub cuCsub
#define hipCmul cuCmul
#define hipCdiv cuCdiv
#define hipCabs cuCabs
#define hipCfma cuCfma

#endif
