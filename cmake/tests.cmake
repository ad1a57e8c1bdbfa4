# SPDX-License-Identifier: Apache-2.0
# tests/<kind>/<folder>/*.cpp is one program <kind>_<folder>, tests/<kind>/*.cpp is <kind>; the kind
# is the CTest label. Tests see the internals, so they link the components, not the shared library.

find_package(GTest REQUIRED)
include(GoogleTest)

# A unit test needs its own folder's component and what that uses; the other kinds need them all.
function(luisa_tile_test_components out kind folder)
  set(components ${LUISA_TILE_COMPONENTS})
  if(kind STREQUAL "unit" AND TARGET lt_${folder})
    set(components lt_${folder})
  endif()
  if(NOT kind STREQUAL "unit" OR folder MATCHES "^(c_api|compile|emulator|fuzz|runtime)$")
    list(PREPEND components lt_tests_support)
  endif()
  set(${out} ${components} PARENT_SCOPE)
endfunction()

# What all programs of tests have in common, so that a header precompiled for one serves the others.
function(luisa_tile_test_options target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src
                                               ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${target} PRIVATE LUISA_TILE_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
endfunction()

add_executable(lt_tests_precompiled EXCLUDE_FROM_ALL tests/support/precompiled.cpp)
luisa_tile_test_options(lt_tests_precompiled)
target_compile_options(lt_tests_precompiled PRIVATE -O0)
target_link_libraries(lt_tests_precompiled PRIVATE lt_core GTest::gtest)
luisa_tile_precompile(lt_tests_precompiled PRIVATE
  <gtest/gtest.h> <luisa/tile.h> <cmath> <cstdint> <cstring> <functional> <memory> <random> <string>
  <vector> ${PROJECT_SOURCE_DIR}/tests/support/both.h)

# What tests share, compiled once.
add_library(lt_tests_support STATIC EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/support/both.cpp
                                    ${PROJECT_SOURCE_DIR}/tests/support/emulated.cpp
                                    ${PROJECT_SOURCE_DIR}/tests/support/on_gpu.cpp
                                    ${PROJECT_SOURCE_DIR}/tests/support/views.cpp)
luisa_tile_test_options(lt_tests_support)
target_compile_options(lt_tests_support PRIVATE $<$<CONFIG:Release>:-O1>)
target_link_libraries(lt_tests_support PUBLIC ${LUISA_TILE_COMPONENTS} GTest::gtest)

function(luisa_tile_test kind folder)
  set(directory ${PROJECT_SOURCE_DIR}/tests/${kind})
  set(name ${kind})
  if(folder)
    string(APPEND directory /${folder})
    string(APPEND name _${folder})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${directory}/*.cpp)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${directory}/*.cpp)
  endif()
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources} ${PROJECT_SOURCE_DIR}/tests/support/environment.cpp)
  luisa_tile_test_components(components ${kind} "${folder}")
  luisa_tile_test_options(${name})
  target_link_libraries(${name} PRIVATE ${components} GTest::gtest_main)
  # Several sources a translation unit: each one alone takes a second to instantiate what headers use. Those of
  # errors all have an `expect` and a `line` of their own.
  if(NOT name MATCHES "^(error|unit_math)")
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC takes the sources that are joined for headers, and their unnamed namespaces for mistakes.
      target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
  # Those whose loops take the time are optimised, and stand alone for it.
  foreach(heavy ahead division)
    set_source_files_properties(${directory}/${heavy}.cpp PROPERTIES COMPILE_OPTIONS -O1
                                SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  # The sources under test stay optimised. Optimising what calls them takes three times as long to compile
  # and finds nothing more, but where the tests are themselves the loops that take the time.
  if(name MATCHES "^unit_(math|types|emit)$")
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  else()
    target_compile_options(${name} PRIVATE -O0)
    luisa_tile_precompile(${name} REUSE_FROM lt_tests_precompiled)
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}."
                       PROPERTIES LABELS ${kind} TIMEOUT 600)
endfunction()

file(GLOB kinds RELATIVE ${PROJECT_SOURCE_DIR}/tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*)
list(REMOVE_ITEM kinds package compile_fail support identity)
foreach(kind ${kinds})
  luisa_tile_test(${kind} "")
  file(GLOB folders RELATIVE ${PROJECT_SOURCE_DIR}/tests/${kind} CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/tests/${kind}/*)
  foreach(folder ${folders})
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/${kind}/${folder})
      luisa_tile_test(${kind} ${folder})
    endif()
  endforeach()
endforeach()
# Stands for NVIDIA's driver in tests of the runtime.
add_library(fake_cuda MODULE ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda.cpp)
target_include_directories(fake_cuda PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_compile_features(fake_cuda PRIVATE cxx_std_20)
foreach(program unit_runtime unit_c_api)
  add_dependencies(${program} fake_cuda)
  target_compile_definitions(${program} PRIVATE FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
endforeach()
# The kernels of `conformance` once more, on the emulator of GPUs: as it runs by itself, and with every access of
# every thread followed, which a sanitizer's build has no time for.
set(emulators emulator)
if(NOT LUISA_TILE_SANITIZE)
  list(APPEND emulators checked)
endif()
foreach(device ${emulators})
  foreach(shard RANGE 3)
    add_test(NAME ${device}.conformance.${shard} COMMAND conformance --gtest_brief=1)
    set_tests_properties(${device}.conformance.${shard} PROPERTIES LABELS emulator TIMEOUT 1200 ENVIRONMENT
      "LUISA_TILE_TEST_DEVICES=${device};GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard}")
  endforeach()
endforeach()
# A part of them by CPU plans of any legal choices, each part by others.
foreach(part RANGE 3)
  math(EXPR shard "5 * ${part}")
  add_test(NAME plans.conformance.${part} COMMAND conformance --gtest_brief=1)
  set_tests_properties(plans.conformance.${part} PROPERTIES LABELS plans TIMEOUT 600 ENVIRONMENT
    "LUISA_TILE_PLAN=random:${part};GTEST_TOTAL_SHARDS=20;GTEST_SHARD_INDEX=${shard}")
endforeach()
# The reference of the math functions.
if(TARGET unit_math)
  target_link_libraries(unit_math PRIVATE mpfr gmp)
endif()

# Programs that must not compile, each for the reason that its `// expect: text` comment names.
file(GLOB rejected CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/compile_fail/*.cpp)
foreach(source ${rejected})
  get_filename_component(name ${source} NAME_WE)
  add_test(NAME compile_fail.${name}
           COMMAND sh ${PROJECT_SOURCE_DIR}/scripts/expect_rejected.sh ${CMAKE_CXX_COMPILER}
                   ${source} -std=c++20 -I${PROJECT_SOURCE_DIR}/include)
  set_tests_properties(compile_fail.${name} PROPERTIES LABELS compile_fail)
endforeach()

include(cmake/identity.cmake)

# The tool on kernels from text: the sum of eight products of ones, doubled; a row of equal values.
if(TARGET luisa-tile)
  foreach(device cpu interpreter)
    add_test(NAME tool.gemm.${device}
             COMMAND luisa-tile run ${PROJECT_SOURCE_DIR}/tests/tool/gemm.tir --device ${device}
                     --input 0=ones --input 1=ones --extent k=8 --scalar 3=2 --print 3)
    set_tests_properties(tool.gemm.${device} PROPERTIES LABELS tool TIMEOUT 60
                         PASS_REGULAR_EXPRESSION "f32 .33, 65. checksum [0-9a-f]+: 16 16 16 ")
    add_test(NAME tool.softmax.${device}
             COMMAND luisa-tile run ${PROJECT_SOURCE_DIR}/tests/tool/softmax.tir --device ${device}
                     --input 0=ones --print 2)
    set_tests_properties(tool.softmax.${device} PROPERTIES LABELS tool TIMEOUT 60
                         PASS_REGULAR_EXPRESSION ": 0.015625 0.015625 ")
  endforeach()
  add_test(NAME tool.draw COMMAND luisa-tile draw "swizzle{2, 0, 3} [64] -> [64]")
  set_tests_properties(tool.draw PROPERTIES LABELS tool TIMEOUT 60
                       PASS_REGULAR_EXPRESSION "<title>swizzle.2, 0, 3. .64. -&gt; .64.</title>")
  # Pages of explanations: each example's beside what a device says, and one in a browser where there is one.
  set(examples minilm)
  foreach(source ${example_sources})
    get_filename_component(name ${source} NAME_WE)
    list(APPEND examples ${name})
  endforeach()
  foreach(source ${lesson_sources})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_.*" "" number ${name})
    list(APPEND examples lesson_${number})
  endforeach()
  add_test(NAME tool.explain COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/tool/check_explain.py
                                     $<TARGET_FILE:luisa-tile> ${examples})
  set_tests_properties(tool.explain PROPERTIES LABELS tool TIMEOUT 300)
  add_test(NAME tool.explain.browser
           COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/tool/check_browser.py
                   $<TARGET_FILE:luisa-tile> attention)
  set_tests_properties(tool.explain.browser PROPERTIES LABELS tool TIMEOUT 600 SKIP_RETURN_CODE 77)
  add_test(NAME tool.fuzz COMMAND luisa-tile fuzz --seed 1 --count 2000 --coverage)
  set_tests_properties(tool.fuzz PROPERTIES LABELS tool TIMEOUT 300)
  # For GPUs, with every access followed; `./dev test deep` runs 20,000.
  if(NOT LUISA_TILE_SANITIZE)
    add_test(NAME emulator.fuzz
             COMMAND luisa-tile fuzz --seed 2 --count 2000 --device cuda-emulator)
    set_tests_properties(emulator.fuzz PROPERTIES LABELS emulator TIMEOUT 900)
  endif()
endif()

# The C API from C, and the Python package over it: on the library as users get it.
add_executable(c_api ${PROJECT_SOURCE_DIR}/tests/tool/c_api.c)
target_compile_options(c_api PRIVATE -std=c99)
target_include_directories(c_api PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(c_api PRIVATE luisa_tile m)
foreach(device cpu interpreter cuda-emulator)
  add_test(NAME tool.c_api.${device}
           COMMAND c_api ${PROJECT_SOURCE_DIR}/tests/tool/softmax.tir ${device})
  set_tests_properties(tool.c_api.${device} PROPERTIES LABELS tool TIMEOUT 60)
endforeach()
add_test(NAME tool.exports COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/tool/check_exports.py
                                   $<TARGET_FILE:luisa_tile>)
set_tests_properties(tool.exports PROPERTIES LABELS tool TIMEOUT 60)
# The interpreter itself: scripts that stand for it cannot load a sanitizer.
execute_process(COMMAND python3 -c "import sys; print(sys.executable)"
                OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE)
add_test(NAME tool.wheel COMMAND ${python} ${PROJECT_SOURCE_DIR}/tests/tool/check_wheel.py)
set_tests_properties(tool.wheel PROPERTIES LABELS tool TIMEOUT 60 ENVIRONMENT
  "PYTHONDONTWRITEBYTECODE=1;LUISA_TILE_LIBRARY=$<TARGET_FILE:luisa_tile>")
add_library(registered_kernels MODULE ${PROJECT_SOURCE_DIR}/tests/python/registered_kernels.cpp)
target_link_libraries(registered_kernels PRIVATE luisa_tile)
add_test(NAME tool.python COMMAND ${python} -m unittest discover -v -s ${PROJECT_SOURCE_DIR}/tests/python)
set_tests_properties(tool.python PROPERTIES LABELS tool TIMEOUT 300 ENVIRONMENT
  "PYTHONPATH=${PROJECT_SOURCE_DIR}/python;PYTHONDONTWRITEBYTECODE=1;LUISA_TILE_LIBRARY=$<TARGET_FILE:luisa_tile>;LUISA_TILE_TEST_KERNELS=$<TARGET_FILE:registered_kernels>")

# Layout functions beside CuTe's own, where its Python is installed.
if(TARGET unit_layout)
  add_test(NAME oracle.cute COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/tool/check_cute.py
                                    $<TARGET_FILE:unit_layout>)
  set_tests_properties(oracle.cute PROPERTIES LABELS tool TIMEOUT 300 SKIP_RETURN_CODE 77)
endif()

# Python itself is not instrumented: what a sanitizer needs is loaded before it. What Python never frees is no leak of ours.
if(LUISA_TILE_SANITIZE)
  string(REGEX MATCH "address|thread" sanitizer "${LUISA_TILE_SANITIZE}")
  string(REPLACE "address" "asan" sanitizer "${sanitizer}")
  string(REPLACE "thread" "tsan" sanitizer "${sanitizer}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${sanitizer}.so
                  OUTPUT_VARIABLE sanitizer_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  set_property(TEST tool.wheel tool.python APPEND PROPERTY ENVIRONMENT
               "LD_PRELOAD=${sanitizer_library};ASAN_OPTIONS=detect_leaks=0")
endif()

# What an earlier run left on disk stays out of the programs' tests.
get_property(tests DIRECTORY PROPERTY TESTS)
set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT LUISA_TILE_CACHE=off)
if(TARGET luisa-tile)
  # The second process finds what the first one compiled.
  add_test(NAME tool.explain.cache
           COMMAND sh -c "rm -rf cache_test && \"$1\" explain \"$2\" && \"$1\" explain \"$2\""
                   sh $<TARGET_FILE:luisa-tile> ${PROJECT_SOURCE_DIR}/tests/tool/gemm.tir
           WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  set_tests_properties(tool.explain.cache PROPERTIES LABELS tool TIMEOUT 60
                       ENVIRONMENT LUISA_TILE_CACHE=${PROJECT_BINARY_DIR}/cache_test
                       PASS_REGULAR_EXPRESSION "disk cache miss .*disk cache hit [^\n]* codegen 0.00")
endif()
