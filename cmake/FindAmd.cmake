# Finds SuiteSparse's approximate minimum degree ordering (BSD license). Defines Amd::Amd.
find_path(Amd_INCLUDE_DIR suitesparse/amd.h)
find_library(Amd_LIBRARY amd)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Amd REQUIRED_VARS Amd_LIBRARY Amd_INCLUDE_DIR)
if(Amd_FOUND AND NOT TARGET Amd::Amd)
  add_library(Amd::Amd UNKNOWN IMPORTED)
  set_target_properties(Amd::Amd PROPERTIES IMPORTED_LOCATION ${Amd_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${Amd_INCLUDE_DIR})
endif()
