# Libraries for tests and the program on another machine, in the folder HEED_MACHINE_ROOT (tests/machines/run.sh unpacks them).
# Sets nothing without it. HEED_TRIPLET: Debian's name of the machine.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEED_MACHINE_ROOT)
if(HEED_MACHINE_ROOT)
  set(CMAKE_FIND_ROOT_PATH ${HEED_MACHINE_ROOT})
  set(CMAKE_LIBRARY_ARCHITECTURE ${HEED_TRIPLET})
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
  endforeach()
  string(APPEND CMAKE_C_FLAGS_INIT " -isystem ${HEED_MACHINE_ROOT}/usr/include/${HEED_TRIPLET}") # jconfig.h
  set(ENV{PKG_CONFIG_LIBDIR} ${HEED_MACHINE_ROOT}/usr/lib/${HEED_TRIPLET}/pkgconfig)
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${HEED_MACHINE_ROOT})
endif()
