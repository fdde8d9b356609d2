// Our runtime in miniature. What a function returns tells which one was called.
int cudaGetDevice(int *device) { return device ? -1 : FIRST; }
int cudaGetDeviceProperties(void) { return FIRST + 1; }
int cudaGetDeviceProperties_v2(void) { return FIRST + 2; }
int cudaStreamQuery(void) { return FIRST + 3; }
int cudaStreamQuery_ptsz(void) { return FIRST + 4; }
int cudaMemcpy(void) { return FIRST + 5; }
int cudaMemcpy_ptds(void) { return FIRST + 6; }
