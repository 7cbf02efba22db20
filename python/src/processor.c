// Tells whether the processor can run _core. This library is compiled for every processor, because _core
// itself ends the process on one that lacks instructions.

/// Returns the first missing instruction set of x86-64-v3, or an empty text.
const char* stiction_find_missing_instructions(void);

const char* stiction_find_missing_instructions(void) {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return "AVX2";
  if (!__builtin_cpu_supports("fma")) return "FMA";
  if (!__builtin_cpu_supports("bmi2")) return "BMI2";
  return "";
}
