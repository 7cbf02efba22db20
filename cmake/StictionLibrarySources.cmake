# Compiles yaml-cpp, tinyxml2 and AMD from the sources in STICTION_LIBRARY_SOURCES, and takes Eigen and
# DAQP from there, so that the module needs no library of the system. tools/fetch_library_sources makes
# the folder. Only wheels are built so: their libraries are hidden in one module, and none is installed.

# Sets `out` to the path of the folder `name`.
function(stiction_find_sources name out)
  set(folder ${STICTION_LIBRARY_SOURCES}/${name})
  if(NOT IS_DIRECTORY ${folder})
    message(FATAL_ERROR "STICTION_LIBRARY_SOURCES: there is no folder ${folder}; make it with "
                        "'tools/fetch_library_sources ${STICTION_LIBRARY_SOURCES}'")
  endif()
  set(${out} ${folder} PARENT_SCOPE)
endfunction()

# Adds a static library without warnings, because its sources are not ours.
function(stiction_add_source_library name include_dir)
  add_library(${name} STATIC ${ARGN})
  target_include_directories(${name} SYSTEM PUBLIC ${include_dir})
  target_compile_options(${name} PRIVATE $<IF:$<CXX_COMPILER_ID:MSVC>,/w,-w>)
endfunction()

stiction_find_sources(yaml-cpp yaml_cpp)
file(GLOB sources CONFIGURE_DEPENDS ${yaml_cpp}/src/*.cpp)
stiction_add_source_library(yaml-cpp ${yaml_cpp}/include ${sources})
target_compile_definitions(yaml-cpp PUBLIC YAML_CPP_STATIC_DEFINE)

stiction_find_sources(tinyxml2 tinyxml2)
stiction_add_source_library(tinyxml2 ${tinyxml2} ${tinyxml2}/tinyxml2.cpp)
add_library(tinyxml2::tinyxml2 ALIAS tinyxml2)

# Its headers are in a folder suitesparse where they are installed. DINT selects indices of 32 bits.
stiction_find_sources(suitesparse suitesparse)
set(amd_include ${CMAKE_BINARY_DIR}/suitesparse_include)
file(COPY ${suitesparse}/AMD/Include/amd.h ${suitesparse}/SuiteSparse_config/SuiteSparse_config.h
     DESTINATION ${amd_include}/suitesparse)
file(GLOB sources CONFIGURE_DEPENDS ${suitesparse}/AMD/Source/*.c)
stiction_add_source_library(amd ${amd_include} ${sources}
                            ${suitesparse}/SuiteSparse_config/SuiteSparse_config.c)
target_include_directories(amd SYSTEM PRIVATE ${amd_include}/suitesparse ${suitesparse}/AMD/Include)
target_compile_definitions(amd PRIVATE DINT)
add_library(Amd::Amd ALIAS amd)

stiction_find_sources(eigen eigen)
add_library(eigen INTERFACE)
target_include_directories(eigen SYSTEM INTERFACE ${eigen})
# Refuses to compile Eigen's files under the LGPL.
target_compile_definitions(eigen INTERFACE EIGEN_MPL2_ONLY)
add_library(Eigen3::Eigen ALIAS eigen)

stiction_find_sources(daqp Daqp_DIR)
