# `cmake --install BUILD --component cpp`: libraries, public headers and what find_package needs.
#
# Public headers are those that a caller includes and those that these include. Eigen is in none of
# them: a library and a program that see different -march or sanitizers would disagree about its
# memory. tests/install compiles each of them alone.
include(CMakePackageConfigHelpers)

set(_contact_headers
  base/error.hpp
  base/thread_pool.hpp
  math/block_sparse_cholesky.hpp
  math/ordering.hpp
  contact/certificate.hpp
  contact/contact_model.hpp
  contact/contact_problem.hpp
  contact/contact_solution.hpp
  contact/islands.hpp
  contact/model_parameters.hpp
  contact/momentum_factor.hpp
  contact/round_off.hpp
  formulations/convex_solver.hpp
  formulations/solver_options.hpp)
set(_sim_headers
  plant/materials.hpp
  sim/step_options.hpp
  sim/step_report.hpp
  sim/stepper.hpp)

set(_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/stiction)
foreach(_part contact sim)
  list(TRANSFORM _${_part}_headers PREPEND ${PROJECT_SOURCE_DIR}/src/stiction/)
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
