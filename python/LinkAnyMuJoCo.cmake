# Links _core with libmujoco of any patch of MuJoCo 4.0.
#
# The file of libmujoco, and so the name that a module asks the loader for, has the full version. _core
# asks for `libstiction_mujoco.so` instead. For each patch there is one library that calls itself so. It
# is empty and asks for libmujoco.so.4.0.PATCH. stiction/binding/_load.py loads the one of the installed MuJoCo
# before _core. As _core then depends on libmujoco, the loader finds its symbols there, and they stay
# invisible for all other modules of the process.
set(minor 4.0)
set(last_patch 9)
set(empty ${CMAKE_CURRENT_BINARY_DIR}/empty.c)
file(CONFIGURE OUTPUT ${empty} CONTENT "")

foreach(patch RANGE ${last_patch})
  set(version ${minor}.${patch})
  # Stands for libmujoco when the link is built; the name is all that counts.
  add_library(libmujoco_${version} SHARED ${empty})
  set_target_properties(libmujoco_${version} PROPERTIES OUTPUT_NAME stub_${version} NO_SONAME ON)
  target_link_options(libmujoco_${version} PRIVATE -Wl,-soname,libmujoco.so.${version})
  add_library(link_${version} SHARED ${empty})
  set_target_properties(link_${version} PROPERTIES PREFIX "" OUTPUT_NAME libmujoco_${version}
    NO_SONAME ON SKIP_BUILD_RPATH ON)
  target_link_options(link_${version} PRIVATE -Wl,-soname,libstiction_mujoco.so -Wl,--no-as-needed -s)
  target_link_libraries(link_${version} PRIVATE libmujoco_${version})
  install(TARGETS link_${version} LIBRARY DESTINATION stiction COMPONENT python)
endforeach()

set_target_properties(_core PROPERTIES STICTION_FINDS_MUJOCO_LATER ON SKIP_BUILD_RPATH ON)
target_link_options(_core PRIVATE -Wl,--no-as-needed)
target_link_libraries(_core PRIVATE $<TARGET_FILE:link_${MuJoCo_VERSION}>)
add_dependencies(_core link_${MuJoCo_VERSION})
set(libmujoco_link $<TARGET_FILE:link_${MuJoCo_VERSION}>)
