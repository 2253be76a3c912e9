# With -DBUILD_SHARED_LIBS=ON: libheed.so and libheed_native.so (Windows: one DLL), which are installed in place of the static libraries. The tests keep the
# static ones, whose internals they use, and so does the program, which then needs no other file. The
# libraries beside the core and the Vulkan backend also use the core's internals, so libheed.so holds them, and heed::check and its like are
# other names of heed::heed. What is exported is marked with HEED_API and listed in exports.txt. Before 1.0.0 a minor version may change the interface, so the
# soname has both numbers.
# CMake wants a source of each library, but the archives hold all the code.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/shared.c CONTENT "typedef int heed_shared_library;\n")

# Windows: one DLL, heed-0.2.dll, since a library there cannot have its own copy of what another one exports. It carries what is static.
# exports.txt says what it exports.
if(WIN32)
  file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/exports.txt lines REGEX "^[a-z]")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports.txt)
  set(exports "")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z]+)\\.h (.*)$" _ "${line}")
    set(header ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    if(NOT header MATCHES "^(native|vulkan)$" OR TARGET heed_${header})
      string(APPEND exports "  ${name}\n")
    endif()
  endforeach()
  foreach(op IN LISTS HEED_OPS)
    string(APPEND exports "  heed_define_${op}\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/package/heed.def CONTENT "EXPORTS\n@exports@" @ONLY)
endif()

# heed_shared_library(NAME FILE STATIC...): a shared library of all that these static ones hold.
function(heed_shared_library name file)
  add_library(${name} SHARED ${PROJECT_BINARY_DIR}/package/shared.c)
  list(TRANSFORM ARGN REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
  if(APPLE)
    list(TRANSFORM archives PREPEND -Wl,-force_load, OUTPUT_VARIABLE whole)
  else()
    set(whole -Wl,--whole-archive ${archives} -Wl,--no-whole-archive)
    target_link_options(${name} PRIVATE $<$<NOT:$<BOOL:${HEED_SANITIZE}>>:-Wl,--no-undefined>)
  endif()
  target_link_libraries(${name} PRIVATE ${whole} $<BUILD_INTERFACE:heed_flags> m)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${file} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                           LINK_DEPENDS "${archives}")
  add_dependencies(${name} ${ARGN})
endfunction()

find_package(Threads REQUIRED)
list(TRANSFORM HEED_BESIDE PREPEND heed_ OUTPUT_VARIABLE inside)
list(PREPEND inside heed)
set(names ${HEED_BESIDE})
if(TARGET heed_vulkan)
  list(APPEND inside heed_gpu heed_vulkan)
  list(APPEND names vulkan)
endif()
if(WIN32 AND TARGET heed_native)
  list(APPEND inside heed_native)
endif()
heed_shared_library(heed_shared heed ${inside})
target_link_libraries(heed_shared PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
if(WIN32)
  target_sources(heed_shared PRIVATE ${PROJECT_BINARY_DIR}/package/heed.def)
  target_link_options(heed_shared PRIVATE -static -Wl,--no-insert-timestamp) # two builds are equal
  set_target_properties(heed_shared PROPERTIES PREFIX "" IMPORT_PREFIX lib RUNTIME_OUTPUT_NAME heed-${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                               RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/native)
endif()
target_include_directories(heed_shared INTERFACE $<INSTALL_INTERFACE:include>)
set_target_properties(heed_shared PROPERTIES EXPORT_NAME heed)
foreach(name IN LISTS names)
  add_library(heed_shared_${name} INTERFACE)
  set_target_properties(heed_shared_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(heed_shared_${name} INTERFACE heed_shared)
endforeach()

# Allocation, errors, the reader of .safetensors files and what names files of other makers are internals without a state: libheed_native.so has
# a copy that it does not export.
if(TARGET heed_native)
  foreach(name CAIRO WEBP TIFF)
    get_property(HEED_LINKS_${name} GLOBAL PROPERTY HEED_LINKS_${name})
  endforeach()
  set(pictures PNG::PNG JPEG::JPEG $<$<BOOL:${HEED_LINKS_CAIRO}>:PkgConfig::HEED_CAIRO_LIBRARY>
      $<$<BOOL:${HEED_LINKS_WEBP}>:PkgConfig::HEED_WEBP_LIBRARY> $<$<BOOL:${HEED_LINKS_TIFF}>:PkgConfig::HEED_TIFF_LIBRARY>)
endif()
if(TARGET heed_native AND WIN32)
  target_link_libraries(heed_shared PRIVATE ${pictures})
  add_library(heed_shared_native INTERFACE)
  target_link_libraries(heed_shared_native INTERFACE heed_shared)
  set_target_properties(heed_shared_native PROPERTIES EXPORT_NAME native)
elseif(TARGET heed_native)
  heed_shared_library(heed_shared_native heed_native heed_native)
  set(hidden $<TARGET_FILE:heed_onnx> $<TARGET_FILE:heed_pickle> $<TARGET_FILE:heed>)
  if(APPLE)
    list(TRANSFORM hidden PREPEND -Wl,-load_hidden,)
  else()
    target_link_options(heed_shared_native PRIVATE -Wl,--exclude-libs,libheed.a:libheed_onnx.a:libheed_pickle.a)
  endif()
  target_link_libraries(heed_shared_native PUBLIC heed_shared PRIVATE ${hidden} ${pictures})
  set_target_properties(heed_shared_native PROPERTIES EXPORT_NAME native)
endif()
