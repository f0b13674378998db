# Writes OUT, a header with the SHA-256 over names and bytes of the files that the programs are
# built from. No times and no paths of this machine are in it; OUT is left alone if nothing changed,
# so that one source file is compiled again. cmake -DSOURCE=… -DOUT=… -P this
file(GLOB_RECURSE files LIST_DIRECTORIES false RELATIVE ${SOURCE}
    ${SOURCE}/libs/* ${SOURCE}/services/* ${SOURCE}/schemas/* ${SOURCE}/tools/rampart/*
    ${SOURCE}/tools/cmake/*)
list(FILTER files EXCLUDE REGEX "\\.md$")
list(APPEND files CMakeLists.txt CMakePresets.json tools/CMakeLists.txt)
list(SORT files)
set(lines "")
foreach(file IN LISTS files)
    file(SHA256 ${SOURCE}/${file} digest)
    string(APPEND lines "${digest} ${file}\n")
endforeach()
string(SHA256 digest "${lines}")
file(CONFIGURE OUTPUT ${OUT} CONTENT [[#pragma once

#include <string_view>

inline constexpr std::string_view kSourceDigest =
    "@digest@";
]] @ONLY)
