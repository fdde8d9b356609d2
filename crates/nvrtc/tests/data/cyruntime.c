// Python's module in miniature.
const char *PyInit_cyruntime(void) { return "module"; }
