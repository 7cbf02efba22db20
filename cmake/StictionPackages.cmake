# Finds the libraries that the build needs, or compiles them from STICTION_LIBRARY_SOURCES. If some are
# missing, one message names all of them, and the Debian packages that have them.
if(STICTION_LIBRARY_SOURCES)
  include(StictionLibrarySources)
  return()
endif()

set(stiction_missing "")
set(stiction_missing_debian "")

# Finds a CMake package with find_package's arguments, and notes it if it is missing.
macro(stiction_find_package debian_package name)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND stiction_missing ${name})
    list(APPEND stiction_missing_debian ${debian_package})
  endif()
endmacro()

stiction_find_package(libeigen3-dev Eigen3 3.4 NO_MODULE)
stiction_find_package(libyaml-cpp-dev yaml-cpp)
stiction_find_package(libtinyxml2-dev tinyxml2)
stiction_find_package(libsuitesparse-dev Amd)

if(stiction_missing)
  list(JOIN stiction_missing ", " stiction_missing)
  list(JOIN stiction_missing_debian " " stiction_missing_debian)
  message(FATAL_ERROR
    "These libraries were not found: ${stiction_missing}. On Debian or Ubuntu, install them with "
    "'apt-get install ${stiction_missing_debian}'; elsewhere, install their equivalents and set "
    "CMAKE_PREFIX_PATH.")
endif()
