# Installs the libraries, the public headers and the files for find_package:
# `cmake --install BUILD --component cpp`.
#
# The public headers are the ones listed here, which a caller includes, and all headers that they
# include. No public header includes Eigen, because the memory layout of its types depends on -march
# and on sanitizers, which may differ between the library and a program. tests/install compiles each
# public header alone.
include(CMakePackageConfigHelpers)

set(_contact_headers
  stiction/base/error.hpp
  stiction/certificate/certifier.hpp
  stiction/contact/custom_law.hpp
  stiction/contact/patch_contact.hpp
  stiction/formulations/contact_solver.hpp
  stiction/geometry/contact_surface.hpp
  stiction/geometry/extent.hpp
  stiction/geometry/mesh_check.hpp
  stiction/geometry/quadrature.hpp
  stiction/geometry/shapes.hpp
  stiction/geometry/tet_mesh.hpp
  stiction/numerics/lcp_solvers.hpp
  stiction/numerics/lcp.hpp
  stiction/numerics/row_basis.hpp)
set(_sim_headers
  stiction/io/contact_properties.hpp
  stiction/io/material_assignment.hpp
  stiction/io/tet_mesh_file.hpp
  stiction/sim/stepper.hpp)

# Sets `out` to `headers` and all headers that they include, without those in `known`. Paths are
# relative to src.
function(stiction_find_includes headers known out)
  set(found "")
  while(headers)
    list(POP_FRONT headers header)
    if(header IN_LIST found OR header IN_LIST known)
      continue()
    endif()
    list(APPEND found ${header})
    set(path ${PROJECT_SOURCE_DIR}/src/${header})
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(STRINGS ${path} lines REGEX "^#include \"stiction/")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^#include \"(.*)\".*" "\\1" included ${line})
      list(APPEND headers ${included})
    endforeach()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
stiction_find_includes("${_contact_headers}" "" _contact_headers)
stiction_find_includes("${_sim_headers}" "${_contact_headers}" _sim_headers)

set(_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stiction)
foreach(_part contact sim)
  list(TRANSFORM _${_part}_headers PREPEND ${PROJECT_SOURCE_DIR}/src/)
  target_sources(stiction_${_part} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/src
                                          FILES ${_${_part}_headers})
  install(TARGETS stiction_${_part} EXPORT stiction_${_part}
          ARCHIVE COMPONENT cpp
          FILE_SET HEADERS COMPONENT cpp)
  install(EXPORT stiction_${_part} FILE stiction_${_part}.cmake NAMESPACE stiction::
          DESTINATION ${_config_dir} COMPONENT cpp)
endforeach()

configure_file(cmake/stictionConfig.cmake.in stictionConfig.cmake @ONLY)
write_basic_package_version_file(stictionConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stictionConfig.cmake
              ${PROJECT_BINARY_DIR}/stictionConfigVersion.cmake
              cmake/FindAmd.cmake cmake/FindMuJoCo.cmake
        DESTINATION ${_config_dir} COMPONENT cpp)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT cpp)
