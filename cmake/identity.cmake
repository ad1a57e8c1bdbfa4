# SPDX-License-Identifier: Apache-2.0
# Captured TileIR must not depend on the C++ standard or on the compiler: the shared test programs and
# the examples are compiled again and must print the same bytes. Nothing is optimised, since only
# their --emit-tir output is wanted.

if(NOT LUISA_TILE_PROGRAMS)
  return()
endif()

set(other_standard 23)
if(CMAKE_CXX_STANDARD EQUAL 23)
  set(other_standard 20)
endif()

# A second compiler, if there is one; it cannot link what GCC's sanitizers instrument.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT LUISA_TILE_SANITIZE)
  find_program(CLANG NAMES clang++-14 clang++)
endif()
set(library_flags -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/tests
    -L${CMAKE_LIBRARY_OUTPUT_DIRECTORY} -lluisa_tile -lz -ljpeg
    -Wl,-rpath,${CMAKE_LIBRARY_OUTPUT_DIRECTORY})

# One comparison: of `here`, a target, with `other`, a path. `mode` is check_identity.sh's.
function(luisa_tile_compare name kernels mode here other)
  add_test(NAME identity.${name}
           COMMAND sh ${PROJECT_SOURCE_DIR}/scripts/check_identity.sh ${kernels} ${mode}
                   $<TARGET_FILE:${here}> --emit-tir -- ${other} --emit-tir)
  set_tests_properties(identity.${name} PROPERTIES LABELS identity TIMEOUT 60)
endfunction()

# Compiles `source` again; `here` is it in the standard of this build, `kernels` defines its kernels.
function(luisa_tile_identity name source here kernels)
  add_executable(identity_${name} ${source})
  set_target_properties(identity_${name} PROPERTIES CXX_STANDARD ${other_standard})
  target_compile_options(identity_${name} PRIVATE -O0)
  target_include_directories(identity_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(identity_${name} PRIVATE LuisaTile::tile ZLIB::ZLIB JPEG::JPEG)
  luisa_tile_compare(${name}.standard ${kernels} lines ${here} $<TARGET_FILE:identity_${name}>)
  if(CLANG)
    set(program ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/identity_${name}_clang)
    add_custom_command(
      OUTPUT ${program}
      COMMAND ${CLANG} -std=c++2b -O0 -MD -MT ${program} -MF ${program}.d ${source} -o ${program}
              ${library_flags}
      DEPENDS ${source} luisa_tile
      DEPFILE ${program}.d
      COMMENT "Compiling ${name} with ${CLANG}")
    add_custom_target(identity_${name}_clang ALL DEPENDS ${program})
    luisa_tile_compare(${name}.compiler ${kernels} text ${here} ${program})
  endif()
endfunction()

foreach(source ${example_sources})
  get_filename_component(name ${source} NAME_WE)
  luisa_tile_identity(${name} ${source} example_${name} ${source})
endforeach()

set(programs ${PROJECT_SOURCE_DIR}/tests/identity/programs.cpp)
add_executable(identity_programs_here ${programs})
target_compile_options(identity_programs_here PRIVATE -O0)
target_include_directories(identity_programs_here PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(identity_programs_here PRIVATE LuisaTile::tile)
luisa_tile_identity(programs ${programs} identity_programs_here
                    ${PROJECT_SOURCE_DIR}/tests/unit/frontend/programs.h)
