// Tells whether the processor can run _core. This library is compiled for every processor, because _core
// itself ends the process on one that lacks instructions, or gets wrong numbers: without LZCNT the
// instruction is another one.
#include <cpuid.h>

/// Returns the first missing instruction set of x86-64-v3, or an empty text.
const char* stiction_find_missing_instructions(void);

const char* stiction_find_missing_instructions(void) {
  // These ask the operating system, too, which must save the wide registers.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2")) return "AVX2";
  if (!__builtin_cpu_supports("fma")) return "FMA";
  if (!__builtin_cpu_supports("bmi2")) return "BMI2";
  // Not all compilers know the names of the others.
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_MOVBE)) return "MOVBE";
  if (!(c & bit_F16C)) return "F16C";
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_BMI)) return "BMI1";
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & bit_LZCNT)) return "LZCNT";
  return "";
}
