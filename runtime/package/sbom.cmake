# The software bill of materials of this build, as SPDX 2.3 in JSON: what the program is linked with, as this machine had it.
# It has no time of its own, so that two builds are the same: SOURCE_DATE_EPOCH is taken where it is set.
# Source of the fields: https://spdx.github.io/spdx-spec/v2.3/, sections 6, 7 and 11.
set(when "$ENV{SOURCE_DATE_EPOCH}")
if(NOT when MATCHES "^[0-9]+$")
  set(when 0)
endif()
set(ENV{SOURCE_DATE_EPOCH} ${when})
string(TIMESTAMP created "%Y-%m-%dT%H:%M:%SZ" UTC)

# sbom_package(NAME VERSION LICENCE SUPPLIER-URL): one package, and that heed depends on it.
set(packages "")
set(relations "")
function(sbom_package name version licence address)
  string(APPEND packages ",
    {\"SPDXID\": \"SPDXRef-${name}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\", \"downloadLocation\": \"${address}\",
     \"filesAnalyzed\": false, \"licenseConcluded\": \"NOASSERTION\", \"licenseDeclared\": \"${licence}\", \"copyrightText\": \"NOASSERTION\"}")
  string(APPEND relations ",
    {\"spdxElementId\": \"SPDXRef-heed\", \"relationshipType\": \"DEPENDS_ON\", \"relatedSpdxElement\": \"SPDXRef-${name}\"}")
  set(packages "${packages}" PARENT_SCOPE)
  set(relations "${relations}" PARENT_SCOPE)
endfunction()

# In a release the libraries are inside: HEED_INSIDE is a file with a line for each, its name and version, as native/packaging/libraries.txt.
set(licence_zlib Zlib)
set(licence_libpng1.6 libpng-2.0)
set(licence_libjpeg-turbo "IJG AND BSD-3-Clause AND Zlib")
set(licence_libwebp BSD-3-Clause)
set(licence_tiff libtiff)
set(licence_sqlite3 blessing)
set(licence_bzip2 bzip2-1.0.6)
set(licence_xz-utils NOASSERTION) # its library is in the public domain, for which SPDX has no name
set(licence_libzstd "BSD-3-Clause OR GPL-2.0-only")
set(licence_libarchive BSD-2-Clause)
set(licence_expat MIT)
set(licence_freetype FTL)
set(licence_fontconfig HPND-sell-variant)
set(licence_pixman MIT)
set(licence_cairo "LGPL-2.1-only OR MPL-1.1")
set(licence_musl MIT)
set(licence_mingw-w64 "ZPL-2.1 AND MIT")
sbom_package(unicode-data 14.0.0 Unicode-3.0 https://www.unicode.org/ucd/) # runtime/text/unicode_table.h
if(EMSCRIPTEN)
  sbom_package(musl "of Emscripten ${EMSCRIPTEN_VERSION}" MIT https://musl.libc.org)
elseif(HEED_INSIDE)
  file(STRINGS ${HEED_INSIDE} lines REGEX "^[a-z]")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^ ]+) ([^ ]+)" line "${line}")
    set(name ${CMAKE_MATCH_1})
    sbom_package(${name} "${CMAKE_MATCH_2}" "${licence_${name}}" "https://tracker.debian.org/pkg/${name}")
  endforeach()
elseif(TARGET heed_native)
  find_package(PNG REQUIRED)
  find_package(JPEG REQUIRED)
  find_package(ZLIB REQUIRED)
  sbom_package(libpng "${PNG_VERSION_STRING}" libpng-2.0 http://www.libpng.org/pub/png/libpng.html)
  sbom_package(libjpeg "${JPEG_VERSION}" "IJG AND BSD-3-Clause" https://libjpeg-turbo.org)
  sbom_package(zlib "${ZLIB_VERSION_STRING}" Zlib https://zlib.net)
  get_property(webp GLOBAL PROPERTY HEED_HAS_WEBP)
  if(webp)
    sbom_package(libwebp "${HEED_WEBP_LIBRARY_libwebp_VERSION}" BSD-3-Clause https://developers.google.com/speed/webp)
    sbom_package(libwebpdemux "${HEED_WEBP_LIBRARY_libwebpdemux_VERSION}" BSD-3-Clause https://developers.google.com/speed/webp)
  endif()
  get_property(tiff GLOBAL PROPERTY HEED_HAS_TIFF)
  if(tiff)
    sbom_package(libtiff "${HEED_TIFF_LIBRARY_VERSION}" libtiff https://libtiff.gitlab.io/libtiff)
  endif()
  get_property(sqlite GLOBAL PROPERTY HEED_HAS_SQLITE)
  if(sqlite AND HEED_CLI)
    sbom_package(sqlite "${HEED_SQLITE_LIBRARY_VERSION}" blessing https://sqlite.org)
  endif()
  get_property(archive GLOBAL PROPERTY HEED_HAS_ARCHIVE)
  if(archive AND HEED_CLI)
    sbom_package(libarchive "${HEED_ARCHIVE_LIBRARY_VERSION}" BSD-2-Clause https://libarchive.org)
  endif()
  get_property(cairo GLOBAL PROPERTY HEED_HAS_CAIRO)
  if(cairo)
    sbom_package(cairo "${HEED_CAIRO_LIBRARY_VERSION}" "LGPL-2.1-only OR MPL-1.1" https://www.cairographics.org)
  endif()
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/heed.spdx.json @ONLY NEWLINE_STYLE UNIX CONTENT [[{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "heed-@PROJECT_VERSION@",
  "documentNamespace": "https://spdx.org/spdxdocs/heed-@PROJECT_VERSION@-@CMAKE_SYSTEM_NAME@-@CMAKE_SYSTEM_PROCESSOR@",
  "creationInfo": {"created": "@created@", "creators": ["Tool: heed-cmake-@PROJECT_VERSION@"]},
  "packages": [
    {"SPDXID": "SPDXRef-heed", "name": "heed", "versionInfo": "@PROJECT_VERSION@", "downloadLocation": "NOASSERTION",
     "filesAnalyzed": false, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION"}@packages@
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-heed"}@relations@
  ]
}
]])
