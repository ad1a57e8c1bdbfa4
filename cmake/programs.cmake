# SPDX-License-Identifier: Apache-2.0
# Examples (one program per file), the command-line tool and the benchmarks. They see the public
# headers only.

find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)

# The programs find the library beside them, wherever the build or install folder is moved.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
file(RELATIVE_PATH lib_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/${lib_from_bin}")

# Their own code prepares arguments and checks results; the kernels are compiled as they run.
function(luisa_tile_optimise_little target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# All of them include the whole of the public headers: parsed once.
add_executable(lt_programs_precompiled EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tools/precompiled.cpp)
luisa_tile_optimise_little(lt_programs_precompiled)
target_link_libraries(lt_programs_precompiled PRIVATE LuisaTile::tile)
luisa_tile_precompile(lt_programs_precompiled PRIVATE <luisa/tile.h>)

# An example is a test too. Its arguments are those of a `// test-args: …` comment, else --quick.
function(luisa_tile_example source name)
  add_executable(example_${name} ${source})
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name})
  luisa_tile_optimise_little(example_${name})
  target_link_libraries(example_${name} PRIVATE LuisaTile::tile ZLIB::ZLIB JPEG::JPEG)
  luisa_tile_precompile(example_${name} REUSE_FROM lt_programs_precompiled)
  if(LUISA_TILE_TESTS)
    file(STRINGS ${source} arguments REGEX "^// test-args:" LIMIT_COUNT 1)
    string(REGEX REPLACE "^// test-args:" "" arguments "${arguments}")
    separate_arguments(arguments UNIX_COMMAND "${arguments}")
    if(NOT arguments)
      set(arguments --quick)
    endif()
    add_test(NAME example.${name} COMMAND example_${name} ${arguments}
             WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
    set_tests_properties(example.${name} PROPERTIES LABELS example TIMEOUT 300)
    # Cases that take the emulator of GPUs long are left out.
    if(NOT LUISA_TILE_SANITIZE)
      add_test(NAME emulator.example.${name}
               COMMAND example_${name} ${arguments} --device cuda-emulator
               WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
      set_tests_properties(emulator.example.${name} PROPERTIES LABELS emulator TIMEOUT 600)
    endif()
  endif()
endfunction()

file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
foreach(source ${example_sources})
  get_filename_component(name ${source} NAME_WE)
  luisa_tile_example(${source} ${name})
endforeach()

# An example of several files: a folder whose other sources the benchmarks use, too. It is skipped where the weights
# of the model are not installed.
file(GLOB minilm_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/minilm/*.cpp)
list(REMOVE_ITEM minilm_sources ${PROJECT_SOURCE_DIR}/examples/minilm/main.cpp)
add_library(minilm STATIC ${minilm_sources})
luisa_tile_optimise_little(minilm)
if(LUISA_TILE_UNITY)
  set_target_properties(minilm PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
endif()
target_compile_definitions(
  minilm PRIVATE LUISA_TILE_MINILM_FOLDER="${PROJECT_SOURCE_DIR}/examples/minilm")
target_include_directories(minilm PUBLIC ${PROJECT_SOURCE_DIR}/examples)
target_link_libraries(minilm PUBLIC LuisaTile::tile PRIVATE nlohmann_json::nlohmann_json)
luisa_tile_example(${PROJECT_SOURCE_DIR}/examples/minilm/main.cpp minilm)
target_link_libraries(example_minilm PRIVATE minilm)
if(LUISA_TILE_TESTS)
  set_tests_properties(example.minilm PROPERTIES SKIP_RETURN_CODE 77)
  if(TEST emulator.example.minilm)
    set_tests_properties(emulator.example.minilm PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()

# A lesson of docs/tutorial: its test holds what it prints to the page's text.
function(luisa_tile_lesson source)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_.*" "" number ${name})
  add_executable(lesson_${number} ${source})
  luisa_tile_optimise_little(lesson_${number})
  target_link_libraries(lesson_${number} PRIVATE LuisaTile::tile)
  luisa_tile_precompile(lesson_${number} REUSE_FROM lt_programs_precompiled)
  if(LUISA_TILE_TESTS)
    add_test(NAME lesson.${number}
             COMMAND python3 ${PROJECT_SOURCE_DIR}/scripts/check_lesson.py
                     $<TARGET_FILE:lesson_${number}>
                     ${PROJECT_SOURCE_DIR}/docs/tutorial/${name}.md)
    set_tests_properties(lesson.${number} PROPERTIES LABELS example TIMEOUT 300)
  endif()
endfunction()

file(GLOB lesson_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/lessons/*.cpp)
foreach(source ${lesson_sources})
  luisa_tile_lesson(${source})
endforeach()

# Command lines and tables of results are templates that take long to optimise and no time to run.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/tools/luisa-tile/main.cpp ${PROJECT_SOURCE_DIR}/tools/luisa-tile/fuzz.cpp
  ${PROJECT_SOURCE_DIR}/bench/main.cpp ${PROJECT_SOURCE_DIR}/bench/options.cpp
  ${PROJECT_SOURCE_DIR}/bench/record.cpp ${PROJECT_SOURCE_DIR}/bench/runner.cpp
  PROPERTIES COMPILE_OPTIONS -O0)
# The loops that measure what the machine can do, and products that check the large ones.
set_source_files_properties(${PROJECT_SOURCE_DIR}/bench/kernels.cpp
                            ${PROJECT_SOURCE_DIR}/bench/suites/gemm.cpp
                            PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O3>)

function(luisa_tile_program name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
  if(sources)
    add_executable(${name} ${sources})
    luisa_tile_optimise_little(${name})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/${folder})
    target_link_libraries(${name} PRIVATE LuisaTile::tile CLI11::CLI11
                          nlohmann_json::nlohmann_json Threads::Threads ${CMAKE_DL_LIBS})
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()
luisa_tile_program(luisa-tile tools/luisa-tile)
if(TARGET luisa-tile)
  # Explanations need what the machine can do, as the benchmarks measure it, and the sources of the examples.
  target_sources(luisa-tile PRIVATE ${PROJECT_SOURCE_DIR}/bench/clock.cpp
                                    ${PROJECT_SOURCE_DIR}/bench/kernels.cpp
                                    ${PROJECT_SOURCE_DIR}/bench/machine.cpp)
  target_include_directories(luisa-tile PRIVATE ${PROJECT_SOURCE_DIR}/bench)
  target_compile_definitions(luisa-tile PRIVATE LUISA_TILE_EXAMPLES="${PROJECT_SOURCE_DIR}/examples")
  target_link_libraries(luisa-tile PRIVATE fmt::fmt)
endif()
# Benchmarks open their peers (OpenBLAS, oneDNN, PyTorch) at run time, so they build without them.
luisa_tile_program(luisa-tile-bench bench)
if(TARGET luisa-tile-bench)
  target_link_libraries(luisa-tile-bench PRIVATE minilm fmt::fmt PkgConfig::XXHASH)
  if(LUISA_TILE_TESTS)
    add_test(NAME tool.bench COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/tool/check_bench.py
                                     $<TARGET_FILE:luisa-tile-bench>)
    set_tests_properties(tool.bench PROPERTIES LABELS tool TIMEOUT 600)
  endif()
endif()
