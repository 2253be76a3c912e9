# heed_late(TARGET NAME WHAT DEBIAN): lets TARGET call the library of HEED_<NAME>_LIBRARY through late/<name>.h, which is made here of
# late/<name>.txt: headers, then the functions that are called. A function that is not listed does not link. The library is opened when
# heed_late_open_<name> is called, which fails with a sentence about WHAT and Debian's package; where it is static, or HEED_LATE is OFF, it is linked.
function(heed_late target name what debian)
  string(TOUPPER ${name} NAME)
  set(files "")
  set(late ${HEED_LATE})
  if(late STREQUAL "AUTO")
    string(COMPARE EQUAL "${CMAKE_SYSTEM_NAME}" "Linux" late)
  endif()
  foreach(path IN LISTS HEED_${NAME}_LIBRARY_LINK_LIBRARIES)
    file(REAL_PATH ${path} path)
    if(path MATCHES "/(lib[^/]*\\.so\\.[0-9]+)[^/]*$")
      string(APPEND files "\"${CMAKE_MATCH_1}\", ")
    else()
      set(late OFF)
    endif()
  endforeach()
  set(list ${PROJECT_SOURCE_DIR}/native/late/${name}.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines)
  set(includes "")
  set(members "")
  set(macros "")
  set(names "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^<")
      string(APPEND includes "#include ${line}\n")
    else()
      string(APPEND members "  __typeof__(${line}) *${line};\n")
      string(APPEND macros "#define ${line} heed_late_${name}.${line}\n")
      string(APPEND names "\"${line}\", ")
    endif()
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/late/late)
  if(late)
    file(CONFIGURE OUTPUT ${folder}/${name}.h @ONLY CONTENT "/* Made of native/late/@name@.txt. */
#pragma once
@includes@#include \"heed/heed.h\"
extern struct heed_late_@name@ {
@members@} heed_late_@name@;
heed_status heed_late_open_@name@(heed_error *error);
@macros@")
    file(CONFIGURE OUTPUT ${folder}/${name}.c @ONLY CONTENT "/* Made of native/late/@name@.txt. */
#include \"late/@name@.h\"
#include \"late/late.h\"
struct heed_late_@name@ heed_late_@name@;
heed_status heed_late_open_@name@(heed_error *error) {
  static const char *const files[] = {@files@NULL};
  static const char *const names[] = {@names@NULL};
  static heed_late late = {\"@what@\", \"@debian@\", files, names, &heed_late_@name@, 0};
  return heed_late_open(&late, error);
}
")
    target_sources(${target} PRIVATE ${folder}/${name}.c)
    set_source_files_properties(${folder}/${name}.c PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/native)
    target_include_directories(${target} SYSTEM PRIVATE ${HEED_${NAME}_LIBRARY_INCLUDE_DIRS})
  else()
    file(CONFIGURE OUTPUT ${folder}/${name}.h @ONLY CONTENT "/* The library of native/late/@name@.txt is linked. */
#pragma once
@includes@#include \"heed/heed.h\"
static inline heed_status heed_late_open_@name@(heed_error *error) {
  (void)error;
  return HEED_OK;
}
")
    target_link_libraries(${target} PRIVATE PkgConfig::HEED_${NAME}_LIBRARY)
  endif()
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/late)
  if(late)
    set_property(GLOBAL PROPERTY HEED_LINKS_${NAME} 0)
  else()
    set_property(GLOBAL PROPERTY HEED_LINKS_${NAME} 1)
  endif()
endfunction()
