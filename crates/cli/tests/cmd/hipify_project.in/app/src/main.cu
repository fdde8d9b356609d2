#include "value.h"
int main() { return cudaDeviceSynchronize(); }
