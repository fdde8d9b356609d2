// OPTIONS: --miopen
// cuDNN becomes MIOpen, whose functions take some arguments in a different order.
// CHECK: #include <hip/hip_runtime.h>
// CHECK: #include <miopen/miopen.h>
#include <cudnn.h>
// CHECK: miopenConvolutionForwardGetWorkSpaceSize(handle, weights, input, convolution, output, &size);
// FINDING: deprecated-in-cuda cudnnGetConvolutionForwardWorkspaceSize
void a() { cudnnGetConvolutionForwardWorkspaceSize(handle, input, weights, convolution, output, algorithm, &size); }
// CHECK: miopenSet2dPoolingDescriptor(pooling, miopenPoolingMax, 2, 2, 0, 0, 2, 2);
// FINDING: deprecated-in-cuda CUDNN_POOLING_MAX
// FINDING: deprecated-in-cuda cudnnSetPooling2dDescriptor
void b() { cudnnSetPooling2dDescriptor(pooling, CUDNN_POOLING_MAX, propagate, 2, 2, 0, 0, 2, 2); }
