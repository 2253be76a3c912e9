# Windows on x86-64 by Debian's gcc-mingw-w64-x86-64.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
# Programs carry what they need with them, such as the library of threads.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(PKG_CONFIG_ARGN --static)
# Nothing of this machine is found: what is there is of the compiler, or in the folder HEED_MACHINE_ROOT.
set(HEED_TRIPLET "")
include(${CMAKE_CURRENT_LIST_DIR}/unpacked.cmake)
if(NOT HEED_MACHINE_ROOT)
  set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
  set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
  foreach(kind LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
  endforeach()
endif()
# They run where Wine is.
find_program(HEED_WINE NAMES wine64 wine64-stable wine PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
if(HEED_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HEED_WINE})
endif()
