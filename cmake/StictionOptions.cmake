# Options, and the compile flags of all targets.
option(STICTION_BUILD_TESTS "Build the C++ tests" OFF)
option(STICTION_BUILD_FUZZ "Build the libFuzzer targets; needs clang" OFF)
option(STICTION_BUILD_BENCH "Build the C++ benchmarks" OFF)
option(STICTION_BUILD_PYTHON "Build the Python module" OFF)
option(STICTION_UNITY "Compile the files of a folder together" ON)
option(STICTION_WERROR "Treat warnings as errors" OFF)
set(STICTION_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
set(STICTION_ARCH "x86-64-v3" CACHE STRING
    "Instruction set passed as -march on x86-64; empty for the compiler's default")

set(STICTION_LIBRARY_SOURCES "" CACHE PATH
    "Folder with sources of yaml-cpp, tinyxml2, AMD, Eigen and DAQP to compile in; empty to find them")
set(STICTION_GLIBC "" CACHE STRING
    "Oldest version of glibc that the Python module shall run with, e.g. 2.28; empty for this machine's")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

if(NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" OR CMAKE_CXX_COMPILER_FRONTEND_VARIANT STREQUAL "MSVC")
  message(FATAL_ERROR
    "The compiler is ${CMAKE_CXX_COMPILER_ID}, but the code uses vector types that only gcc and clang have. "
    "Set CMAKE_CXX_COMPILER to one of them; on Windows use that of mingw-w64.")
endif()

add_library(stiction_flags INTERFACE)
# Without contraction the same source gives the same bits wherever it is inlined.
target_compile_options(stiction_flags INTERFACE -Wall -Wextra -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # When gcc 12 vectorizes straight-line code, it contracts a product and its sum and difference to one
  # instruction (vfmsubadd) all the same.
  target_compile_options(stiction_flags INTERFACE -fno-tree-slp-vectorize)
  if(STICTION_UNITY)
    # Files that are compiled together look like headers, whose classes must not have members of hidden types.
    target_compile_options(stiction_flags INTERFACE -Wno-subobject-linkage)
  endif()
endif()
# Eigen's vectorized sums depend on the width of vectors and its blocks on the processor's caches, so its
# results would differ between machines. What must be fast has kernels of its own in src/stiction/math.
target_compile_definitions(stiction_flags INTERFACE EIGEN_DONT_VECTORIZE EIGEN_NO_CPUID
  EIGEN_DEFAULT_L1_CACHE_SIZE=32768 EIGEN_DEFAULT_L2_CACHE_SIZE=262144
  EIGEN_DEFAULT_L3_CACHE_SIZE=2097152)
if(STICTION_ARCH AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(stiction_flags INTERFACE -march=${STICTION_ARCH})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
    # gcc copies and clears structs by `rep movs` and `rep stos`, which start slowly, unless it may use vectors
    # of this size, in a loop if the struct is large.
    target_compile_options(stiction_flags INTERFACE -mmove-max=256 -mstore-max=256
      -mmemcpy-strategy=vector_loop:4096:noalign,libcall:-1:noalign
      -mmemset-strategy=vector_loop:4096:noalign,libcall:-1:noalign)
  endif()
endif()
if(STICTION_WERROR)
  target_compile_options(stiction_flags INTERFACE -Werror)
endif()
if(STICTION_SANITIZE)
  # UndefinedBehaviorSanitizer's checks of null pointers, object sizes and pointer arithmetic cost much
  # compile time. Only fuzzers have them, because AddressSanitizer stops at accesses through such
  # pointers.
  if(NOT STICTION_SANITIZE MATCHES "fuzzer")
    set(unchecked -fno-sanitize=null,object-size,pointer-overflow)
  endif()
  target_compile_options(stiction_flags INTERFACE -fsanitize=${STICTION_SANITIZE} ${unchecked}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(stiction_flags INTERFACE -fsanitize=${STICTION_SANITIZE})
endif()
if(STICTION_BUILD_FUZZ AND NOT STICTION_SANITIZE MATCHES "fuzzer")
  # Counters at the edges of the code are all that libFuzzer needs to see new paths. They cost no
  # measurable compile time, so that the tests and the fuzz targets of the preset `dev` share their libraries.
  # The preset `fuzz` traces comparisons too.
  target_compile_options(stiction_flags INTERFACE -fsanitize-coverage=inline-8bit-counters,pc-table)
endif()

find_program(STICTION_CCACHE ccache)
if(STICTION_CCACHE)
  # Without this ccache does not serve files with precompiled headers.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${STICTION_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
