# Links _core so that it runs with glibc STICTION_GLIBC and later, though this machine's may be newer.
#
# gcc and its flags stay those of all other builds, so results keep their bits. Only the linker takes the
# symbols of glibc in their older versions; tools/cut_glibc.py describes how. src/old_glibc.c defines two
# symbols that headers of a newer glibc make the compiler use. A container with an old glibc, such as
# manylinux_2_28, needs none of this.
set(old_glibc ${CMAKE_CURRENT_BINARY_DIR}/glibc-${STICTION_GLIBC})
set(cut_glibc ${PROJECT_SOURCE_DIR}/tools/cut_glibc.py)
execute_process(COMMAND ${Python_EXECUTABLE} ${cut_glibc} ${STICTION_GLIBC} ${old_glibc} ${CMAKE_C_COMPILER}
                COMMAND_ERROR_IS_FATAL ANY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cut_glibc})
target_sources(_core PRIVATE src/old_glibc.c)
target_link_directories(_core BEFORE PRIVATE ${old_glibc})
