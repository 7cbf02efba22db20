# Finds the C sources of DAQP (MIT license). `./dev setup` unpacks them from the source distribution
# of the Python package daqp into .venv/daqp. To use another copy, set Daqp_DIR to the folder that
# contains csrc. Sets Daqp_SOURCES and Daqp_INCLUDE_DIR.
set(Daqp_VERSION 0.11.0)
find_path(Daqp_INCLUDE_DIR daqp.h
          PATHS ${Daqp_DIR} ${PROJECT_SOURCE_DIR}/.venv/daqp/daqp-${Daqp_VERSION}
          PATH_SUFFIXES csrc/include NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Daqp REQUIRED_VARS Daqp_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "the LCP solver active_set is not built (run ./dev setup to get DAQP)")
if(Daqp_FOUND)
  file(GLOB Daqp_SOURCES CONFIGURE_DEPENDS ${Daqp_INCLUDE_DIR}/../src/*.c)
endif()
