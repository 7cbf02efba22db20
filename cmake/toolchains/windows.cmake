# Debian's mingw-w64 gcc for Windows on x86-64, with its own threads library for std::thread.
# tools/cross sets CMAKE_FIND_ROOT_PATH to a folder with the libraries.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR AMD64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
# A program then needs no libraries of the compiler beside it.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)

# Programs are those of this machine; everything else is of the target.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
