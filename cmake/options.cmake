# SPDX-License-Identifier: Apache-2.0
# How everything is compiled and linked. Directory-scoped, so a project that adds this one as a
# subdirectory keeps its own settings.

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_STANDARD 20 CACHE STRING "C++ standard: 20 or 23")
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# cmake/exports.map decides what leaves the library; hidden symbols could not be exported by it.
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# Each operation rounds on its own: nothing may contract a*b + c behind the source's back.
add_compile_options(-Wall -Wextra -Wpedantic -Wno-missing-field-initializers -ffp-contract=off
                    -fno-semantic-interposition -ffunction-sections -fdata-sections)
# What -O3 adds finds no loop in a compiler's own code, and takes a sixth longer to build. Directories and
# targets whose own speed is of no account lower it further.
add_compile_options($<$<CONFIG:Release>:-O2>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Its garbage collector takes a seventh of the time of sources with many templates; it may wait until
  # there is a gigabyte.
  add_compile_options(--param=ggc-min-heapsize=1000000)
endif()
add_link_options(-Wl,--gc-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlaps and ends of `"text" + std::string` that are not there (its bugs 105651, 105329).
  add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overread)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(CCACHE ccache)
  if(CCACHE)
    # Without this ccache takes no result of a compilation that reads a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  endif()
endif()

if(LUISA_TILE_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
else()
  # lld cannot read GCC's intermediate objects, but links several times faster without them.
  find_program(LLD ld.lld)
  if(LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

if(LUISA_TILE_SANITIZE)
  add_compile_options(-fsanitize=${LUISA_TILE_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer
                      -O1 -g1) # -O2 builds twice as long; lines are all that reports show
  add_link_options(-fsanitize=${LUISA_TILE_SANITIZE})
endif()

# Headers that take longer to parse than most sources that include them are parsed once for a target.
# GCC loses a header's own `#pragma GCC diagnostic` there, and ccache asks for the second option.
function(luisa_tile_precompile target)
  target_precompile_headers(${target} ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-comma-subscript -fpch-preprocess)
  endif()
endfunction()
