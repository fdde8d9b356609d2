#include "value.h"
int main() { cudaValue(value); return cudaDeviceSynchronize(); }
