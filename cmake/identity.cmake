# SPDX-License-Identifier: Apache-2.0
# Captured TileIR must not depend on the C++ standard or on the compiler: each test compiles one of the examples,
# or of the programs that tests share, again and compares what both print.

if(NOT LUISA_TILE_PROGRAMS)
  return()
endif()

set(other_standard c++2b)
if(CMAKE_CXX_STANDARD EQUAL 23)
  set(other_standard c++20)
endif()

# A second compiler, if there is one; it cannot link what GCC's sanitizers instrument.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT LUISA_TILE_SANITIZE)
  find_program(CLANG NAMES clang++-14 clang++)
endif()
# Nothing is optimised, since only the text is wanted.
set(identity_flags -O0 -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/tests
    -L${CMAKE_LIBRARY_OUTPUT_DIRECTORY} -lluisa_tile -lz -ljpeg
    -Wl,-rpath,${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
if(LUISA_TILE_SANITIZE)
  list(APPEND identity_flags -fsanitize=${LUISA_TILE_SANITIZE})
endif()

# Compiles `source` with `compiler`; `here` is the target that this build made of it, `kernels` the file that
# defines its kernels.
function(luisa_tile_compare name source kernels mode here compiler standard)
  add_test(NAME identity.${name}
           COMMAND sh ${PROJECT_SOURCE_DIR}/scripts/check_identity.sh ${source} ${kernels} ${mode}
                   $<TARGET_FILE:${here}> ${compiler} -std=${standard} ${identity_flags})
  set_tests_properties(identity.${name} PROPERTIES LABELS identity TIMEOUT 300)
endfunction()

function(luisa_tile_identity name source here kernels)
  luisa_tile_compare(${name}.standard ${source} ${kernels} lines ${here} ${CMAKE_CXX_COMPILER}
                     ${other_standard})
  if(CLANG)
    luisa_tile_compare(${name}.compiler ${source} ${kernels} text ${here} ${CLANG} c++2b)
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
