# Windows on x86-64 by Debian's gcc-mingw-w64-x86-64.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc)
# Programs carry the library of threads with them.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
# They run where Wine is.
find_program(HEED_WINE NAMES wine64 wine64-stable wine PATHS /usr/lib/wine NO_CMAKE_FIND_ROOT_PATH)
if(HEED_WINE)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${HEED_WINE})
endif()
