# Port for vcpkg: the libraries. heed.invalid stands for the place of the releases; the sum is the SHA-512 of the sources.
vcpkg_download_distfile(archive
  URLS "https://heed.invalid/releases/v${VERSION}/heed-${VERSION}.tar.gz"
  FILENAME "heed-${VERSION}.tar.gz"
  SHA512 0)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

foreach(feature native figures webp tiff vulkan)
  set(${feature} OFF)
  if(feature IN_LIST FEATURES)
    set(${feature} ON)
  endif()
endforeach()
if(vulkan)
  list(APPEND tools "-DHEED_GLSLANG=${CURRENT_HOST_INSTALLED_DIR}/tools/glslang/glslang${VCPKG_HOST_EXECUTABLE_SUFFIX}"
    "-DHEED_SPIRV_VAL=${CURRENT_HOST_INSTALLED_DIR}/tools/spirv-tools/spirv-val${VCPKG_HOST_EXECUTABLE_SUFFIX}")
endif()
vcpkg_cmake_configure(SOURCE_PATH "${source}"
  OPTIONS -DHEED_CLI=OFF -DHEED_TESTS=OFF -DHEED_NATIVE_LIBRARY=${native} -DHEED_CAIRO=${figures} -DHEED_WEBP=${webp} -DHEED_TIFF=${tiff}
    -DHEED_VULKAN=${vulkan} ${tools})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/heed)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
