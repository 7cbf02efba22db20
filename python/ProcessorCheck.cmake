# Builds the library that tells whether the processor has the instructions of _core. stiction/binding/_load.py calls
# it before it loads _core. A build for all x86-64 processors, or for this one, has no such library.
if(NOT STICTION_ARCH STREQUAL "x86-64-v3" OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  return()
endif()
add_library(processor MODULE src/processor.c)
set_target_properties(processor PROPERTIES PREFIX "" OUTPUT_NAME libstiction_processor SUFFIX .so
                      C_VISIBILITY_PRESET default)
# Like the links to libmujoco, it needs no other library and has no debug symbols.
target_link_options(processor PRIVATE -nostdlib -s)
target_link_libraries(processor PRIVATE gcc)
install(TARGETS processor LIBRARY DESTINATION stiction COMPONENT python)
