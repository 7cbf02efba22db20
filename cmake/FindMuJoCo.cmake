# Finds the headers and the library of MuJoCo in the installed Python package `mujoco`, which comes
# with mujoco-core. Defines the target mujoco::mujoco. Set MuJoCo_DIR to the folder of the package to
# avoid running Python. A target with the property STICTION_FINDS_MUJOCO_LATER gets the headers but is
# not linked with the library.
if(NOT MuJoCo_DIR OR NOT EXISTS ${MuJoCo_DIR}/include/mujoco/mujoco.h)
  if(NOT Python_EXECUTABLE)
    find_package(Python 3.11 COMPONENTS Interpreter QUIET)
  endif()
  if(Python_EXECUTABLE)
    execute_process(
      COMMAND ${Python_EXECUTABLE} -c
        "import importlib.util as u; print(u.find_spec('mujoco').submodule_search_locations[0])"
      OUTPUT_VARIABLE _mujoco_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(MuJoCo_DIR "${_mujoco_dir}" CACHE PATH "Folder of the Python package mujoco" FORCE)
  endif()
endif()

set(MuJoCo_VERSION "")
if(EXISTS "${MuJoCo_DIR}/include/mujoco/mujoco.h")
  # The header writes version 4.0.1 as 4000001.
  file(STRINGS ${MuJoCo_DIR}/include/mujoco/mujoco.h _line REGEX "#define mjVERSION_HEADER")
  string(REGEX MATCH "[0-9]+" _number "${_line}")
  math(EXPR _major "${_number} / 1000000")
  math(EXPR _minor "(${_number} / 1000) % 1000")
  math(EXPR _patch "${_number} % 1000")
  set(MuJoCo_VERSION ${_major}.${_minor}.${_patch})
  find_library(MuJoCo_LIBRARY NAMES libmujoco.so.${MuJoCo_VERSION} libmujoco.${MuJoCo_VERSION}.dylib
               PATHS ${MuJoCo_DIR} NO_DEFAULT_PATH)
  if(WIN32)
    # The package has no import library. The linkers of mingw-w64 need none.
    find_file(MuJoCo_LIBRARY mujoco.dll PATHS ${MuJoCo_DIR} NO_DEFAULT_PATH)
  endif()
endif()

set(_mujoco_reason "no Python was found to ask for its package mujoco")
if(Python_EXECUTABLE)
  set(_mujoco_reason "${Python_EXECUTABLE} has no package mujoco")
endif()
if(MuJoCo_VERSION)
  set(_mujoco_reason "the package in ${MuJoCo_DIR} has version ${MuJoCo_VERSION}")
endif()
string(APPEND _mujoco_reason
  ". Install it with 'python -m pip install \"mujoco-core>=4.0.0,<4.1\"', and set "
  "-DPython_EXECUTABLE=/path/to/python to the Python that has it, or -DMuJoCo_DIR=FOLDER to the "
  "folder of the package")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo
  REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_DIR VERSION_VAR MuJoCo_VERSION HANDLE_VERSION_RANGE
  REASON_FAILURE_MESSAGE "${_mujoco_reason}")
if(MuJoCo_FOUND AND NOT TARGET mujoco::mujoco)
  add_library(mujoco::library SHARED IMPORTED)
  set_target_properties(mujoco::library PROPERTIES
    IMPORTED_LOCATION ${MuJoCo_LIBRARY}
    IMPORTED_IMPLIB ${MuJoCo_LIBRARY}  # only Windows reads it
    IMPORTED_SONAME libmujoco.so.${MuJoCo_VERSION})
  add_library(mujoco::mujoco INTERFACE IMPORTED)
  set_target_properties(mujoco::mujoco PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${MuJoCo_DIR}/include
    INTERFACE_LINK_LIBRARIES
      "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:STICTION_FINDS_MUJOCO_LATER>>>:mujoco::library>")
endif()
