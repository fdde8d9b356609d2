#include <cuda_runtime.h>
enum { CU_OWN = 3 };
cudaError_t cudaOwnStart(int device);
class cudaOwnGuard { public: cudaOwnGuard(int); };
