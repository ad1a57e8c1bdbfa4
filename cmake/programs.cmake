# SPDX-License-Identifier: Apache-2.0
# Examples (one program a file), the command-line tool and the benchmarks: public headers only.

file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
foreach(source ${example_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example_${name} ${source})
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(example_${name} PRIVATE LuisaTile::tile)
endforeach()

file(GLOB tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/luisa-tile/*.cpp)
if(tool_sources)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  add_executable(luisa-tile ${tool_sources})
  target_link_libraries(luisa-tile PRIVATE LuisaTile::tile CLI11::CLI11 nlohmann_json::nlohmann_json)
endif()

file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp)
if(bench_sources)
  find_package(CLI11 REQUIRED)
  find_package(nlohmann_json REQUIRED)
  add_executable(luisa-tile-bench ${bench_sources})
  target_link_libraries(luisa-tile-bench PRIVATE LuisaTile::tile CLI11::CLI11
                        nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})
endif()
