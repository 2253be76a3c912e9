# Linux on arm64 by Debian's gcc-aarch64-linux-gnu; tests run in qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
set(HEED_TRIPLET aarch64-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/unpacked.cmake)
