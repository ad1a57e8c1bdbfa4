# SPDX-License-Identifier: Apache-2.0
# tests/<kind>/<folder>/*.cpp is one program <kind>_<folder>; tests/<kind>/*.cpp is <kind>. The kind is
# the CTest label. Tests see the internals, so they link the components rather than the shared library.

find_package(GTest REQUIRED)
include(GoogleTest)

function(luisa_tile_test kind name)
  add_executable(${name} ${ARGN})
  # A component library may use later ones through interfaces; group them for the linker.
  target_link_libraries(${name} PRIVATE -Wl,--start-group ${LUISA_TILE_COMPONENTS} -Wl,--end-group
                        lt_runtime GTest::gtest_main)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
                                             ${PROJECT_SOURCE_DIR}/include)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}." PROPERTIES LABELS ${kind})
endfunction()

file(GLOB kinds RELATIVE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/tests/*)
foreach(kind ${kinds})
  if(kind STREQUAL "package" OR kind STREQUAL "compile_fail" OR kind STREQUAL "support")
    continue()
  endif()
  file(GLOB own CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${kind}/*.cpp)
  if(own)
    luisa_tile_test(${kind} ${kind} ${own})
  endif()
  file(GLOB folders RELATIVE ${PROJECT_SOURCE_DIR}/tests/${kind} ${PROJECT_SOURCE_DIR}/tests/${kind}/*)
  foreach(folder ${folders})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${kind}/${folder}/*.cpp)
    if(sources)
      luisa_tile_test(${kind} ${kind}_${folder} ${sources})
    endif()
  endforeach()
endforeach()

# Programs that must not compile: the first `// expect: text` comment is looked for in the message.
file(GLOB rejected CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/compile_fail/*.cpp)
foreach(source ${rejected})
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME compile_fail.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/scripts/expect_rejected.sh ${CMAKE_CXX_COMPILER} ${source}
                   -std=c++20 -I${PROJECT_SOURCE_DIR}/include)
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail)
endforeach()

if(LUISA_TILE_EXAMPLES)
  foreach(source ${example_sources})
    get_filename_component(name ${source} NAME_WE)
    add_test(NAME example.${name} COMMAND example_${name} --quick
             WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
    set_tests_properties(example.${name} PROPERTIES LABELS example)
  endforeach()
endif()
