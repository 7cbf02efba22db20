# The C sources of DAQP (MIT), from the source distribution of the Python package daqp, which
# `./dev setup` unpacks in .venv/daqp. Variables Daqp_SOURCES and Daqp_INCLUDE_DIR. Set Daqp_DIR to a
# folder that has csrc in it for another place.
set(Daqp_VERSION 0.11.0)
find_path(Daqp_INCLUDE_DIR daqp.h
          PATHS ${Daqp_DIR} ${PROJECT_SOURCE_DIR}/.venv/daqp/daqp-${Daqp_VERSION}
          PATH_SUFFIXES csrc/include NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Daqp REQUIRED_VARS Daqp_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "the LCP solver active_set is left out (./dev setup brings it)")
if(Daqp_FOUND)
  file(GLOB Daqp_SOURCES CONFIGURE_DEPENDS ${Daqp_INCLUDE_DIR}/../src/*.c)
endif()
