/*
 * Anywarp's declaration of HIP, version 6.3: compilation at run time.
 *
 * Written for this project. Names, values and layouts are those of the interface, so a program compiled with
 * this file calls the library in the same way as one compiled with any other header of the same version.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef ANYWARP_HIP_HIPRTC_H
#define ANYWARP_HIP_HIPRTC_H

#include <hip/hip_runtime_api.h>

typedef enum hiprtcResult {
    HIPRTC_SUCCESS = 0,
    HIPRTC_ERROR_OUT_OF_MEMORY = 1,
    HIPRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    HIPRTC_ERROR_INVALID_INPUT = 3,
    HIPRTC_ERROR_INVALID_PROGRAM = 4,
    HIPRTC_ERROR_INVALID_OPTION = 5,
    HIPRTC_ERROR_COMPILATION = 6,
    HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    HIPRTC_ERROR_INTERNAL_ERROR = 11,
    HIPRTC_ERROR_LINKING = 100,
} hiprtcResult;

/* The same type as hipJitOption, since a CUDA program uses CUjit_option both for modules and for the linker. */
typedef hipJitOption hiprtcJIT_option;
#define HIPRTC_JIT_MAX_REGISTERS ((hiprtcJIT_option)0)
#define HIPRTC_JIT_THREADS_PER_BLOCK ((hiprtcJIT_option)1)
#define HIPRTC_JIT_WALL_TIME ((hiprtcJIT_option)2)
#define HIPRTC_JIT_INFO_LOG_BUFFER ((hiprtcJIT_option)3)
#define HIPRTC_JIT_INFO_LOG_BUFFER_SIZE_BYTES ((hiprtcJIT_option)4)
#define HIPRTC_JIT_ERROR_LOG_BUFFER ((hiprtcJIT_option)5)
#define HIPRTC_JIT_ERROR_LOG_BUFFER_SIZE_BYTES ((hiprtcJIT_option)6)
#define HIPRTC_JIT_OPTIMIZATION_LEVEL ((hiprtcJIT_option)7)
#define HIPRTC_JIT_TARGET_FROM_HIPCONTEXT ((hiprtcJIT_option)8)
#define HIPRTC_JIT_TARGET ((hiprtcJIT_option)9)
#define HIPRTC_JIT_FALLBACK_STRATEGY ((hiprtcJIT_option)10)
#define HIPRTC_JIT_GENERATE_DEBUG_INFO ((hiprtcJIT_option)11)
#define HIPRTC_JIT_LOG_VERBOSE ((hiprtcJIT_option)12)
#define HIPRTC_JIT_GENERATE_LINE_INFO ((hiprtcJIT_option)13)
#define HIPRTC_JIT_CACHE_MODE ((hiprtcJIT_option)14)
#define HIPRTC_JIT_NEW_SM3X_OPT ((hiprtcJIT_option)15)
#define HIPRTC_JIT_FAST_COMPILE ((hiprtcJIT_option)16)
#define HIPRTC_JIT_GLOBAL_SYMBOL_NAMES ((hiprtcJIT_option)17)
#define HIPRTC_JIT_GLOBAL_SYMBOL_ADDRESS ((hiprtcJIT_option)18)
#define HIPRTC_JIT_GLOBAL_SYMBOL_COUNT ((hiprtcJIT_option)19)
#define HIPRTC_JIT_LTO ((hiprtcJIT_option)20)
#define HIPRTC_JIT_FTZ ((hiprtcJIT_option)21)
#define HIPRTC_JIT_PREC_DIV ((hiprtcJIT_option)22)
#define HIPRTC_JIT_PREC_SQRT ((hiprtcJIT_option)23)
#define HIPRTC_JIT_FMA ((hiprtcJIT_option)24)
#define HIPRTC_JIT_NUM_OPTIONS ((hiprtcJIT_option)25)
#define HIPRTC_JIT_IR_TO_ISA_OPT_EXT ((hiprtcJIT_option)10000)
#define HIPRTC_JIT_IR_TO_ISA_OPT_COUNT_EXT ((hiprtcJIT_option)10001)

typedef enum hiprtcJITInputType {
    HIPRTC_JIT_INPUT_CUBIN = 0,
    HIPRTC_JIT_INPUT_PTX = 1,
    HIPRTC_JIT_INPUT_FATBINARY = 2,
    HIPRTC_JIT_INPUT_OBJECT = 3,
    HIPRTC_JIT_INPUT_LIBRARY = 4,
    HIPRTC_JIT_INPUT_NVVM = 5,
    HIPRTC_JIT_NUM_LEGACY_INPUT_TYPES = 6,
    HIPRTC_JIT_INPUT_LLVM_BITCODE = 100,
    HIPRTC_JIT_INPUT_LLVM_BUNDLED_BITCODE = 101,
    HIPRTC_JIT_INPUT_LLVM_ARCHIVES_OF_BUNDLED_BITCODE = 102,
    HIPRTC_JIT_NUM_INPUT_TYPES = 9,
} hiprtcJITInputType;

typedef struct ihiprtcLinkState *hiprtcLinkState;
typedef struct _hiprtcProgram *hiprtcProgram;

#ifdef __cplusplus
extern "C" {
#endif

const char *hiprtcGetErrorString(hiprtcResult result);
hiprtcResult hiprtcVersion(int *major, int *minor);
hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char *name_expression);
hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int numOptions, const char **options);
hiprtcResult hiprtcCreateProgram(hiprtcProgram *prog, const char *src, const char *name, int numHeaders,
    const char **headers, const char **includeNames);
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *prog);
hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog, const char *name_expression, const char **lowered_name);
hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char *log);
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *logSizeRet);
hiprtcResult hiprtcGetCode(hiprtcProgram prog, char *code);
hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t *codeSizeRet);
hiprtcResult hiprtcGetBitcode(hiprtcProgram prog, char *bitcode);
hiprtcResult hiprtcGetBitcodeSize(hiprtcProgram prog, size_t *bitcode_size);
hiprtcResult hiprtcLinkCreate(unsigned int num_options, hiprtcJIT_option *option_ptr, void **option_vals_pptr,
    hiprtcLinkState *hip_link_state_ptr);
hiprtcResult hiprtcLinkAddFile(hiprtcLinkState hip_link_state, hiprtcJITInputType input_type, const char *file_path,
    unsigned int num_options, hiprtcJIT_option *options_ptr, void **option_values);
hiprtcResult hiprtcLinkAddData(hiprtcLinkState hip_link_state, hiprtcJITInputType input_type, void *image,
    size_t image_size, const char *name, unsigned int num_options, hiprtcJIT_option *options_ptr,
    void **option_values);
hiprtcResult hiprtcLinkComplete(hiprtcLinkState hip_link_state, void **bin_out, size_t *size_out);
hiprtcResult hiprtcLinkDestroy(hiprtcLinkState hip_link_state);

#ifdef __cplusplus
}
#endif

#endif
