#include <own/check.h>
int main() { cudaOwnGuard(1); return cudaOwnStart(CU_OWN) + cudaStranger(0); }
