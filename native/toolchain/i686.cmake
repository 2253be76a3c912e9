# Linux on 32-bit x86 by Debian's gcc-i686-linux-gnu; a 64-bit processor runs the tests. Floats are those of SSE2: the x87 unit rounds
# sums to 80 bits, so that its numbers are not those of other machines.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-msse2 -mfpmath=sse")
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/i686-linux-gnu/lib/ld-linux.so.2 --library-path /usr/i686-linux-gnu/lib)
set(HEED_TRIPLET i386-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/unpacked.cmake)
