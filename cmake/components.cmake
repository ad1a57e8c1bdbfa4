# SPDX-License-Identifier: Apache-2.0
# One static library per folder of src/, with the edges that scripts/check_layering.py checks in the
# sources. A folder without sources yet is an empty interface.

set(LUISA_TILE_COMPONENTS "") # the ones that have sources
set(LUISA_TILE_LIBRARIES "") # what those link from outside

# What nearly all sources from the IR upwards include takes a third of their time to compile: it is
# parsed once, for the components that say PRECOMPILED.
add_library(lt_precompiled OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/precompiled.cpp)
target_compile_features(lt_precompiled PRIVATE cxx_std_20)
target_include_directories(lt_precompiled PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(lt_precompiled PRIVATE fmt::fmt)
luisa_tile_precompile(lt_precompiled PRIVATE <algorithm> <functional> <memory> <optional> <string>
  <unordered_map> <unordered_set> <variant> <vector> ${PROJECT_SOURCE_DIR}/src/ir/module.h)

# luisa_tile_component(NAME FOLDER [PRECOMPILED] [USES component…] [LINKS library…] [PRIVATE_LINKS library…])
function(luisa_tile_component name folder)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "PRECOMPILED" "" "USES;LINKS;PRIVATE_LINKS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  set(target lt_${name})
  set(scope INTERFACE)
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE ${ARG_PRIVATE_LINKS})
    set(LUISA_TILE_COMPONENTS ${LUISA_TILE_COMPONENTS} ${target} PARENT_SCOPE)
    set(LUISA_TILE_LIBRARIES ${LUISA_TILE_LIBRARIES} ${ARG_LINKS} ${ARG_PRIVATE_LINKS} PARENT_SCOPE)
    set(scope PUBLIC)
    if(LUISA_TILE_UNITY)
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
      # A source is not the main file of its unit, but is still the only one that has its classes.
      target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
    if(ARG_PRECOMPILED)
      luisa_tile_precompile(${target} REUSE_FROM lt_precompiled)
    endif()
  else()
    add_library(${target} INTERFACE)
  endif()
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/include
                                                ${PROJECT_SOURCE_DIR}/src)
  list(TRANSFORM ARG_USES PREPEND lt_)
  target_link_libraries(${target} ${scope} ${ARG_USES} ${ARG_LINKS})
endfunction()

luisa_tile_component(core core LINKS fmt::fmt PkgConfig::XXHASH)
luisa_tile_component(types types USES core)
luisa_tile_component(layout layout USES core)
luisa_tile_component(math math USES types)
luisa_tile_component(ir ir PRECOMPILED USES types layout)
luisa_tile_component(frontend frontend PRECOMPILED USES ir)
luisa_tile_component(interpreter interpreter PRECOMPILED USES ir math)
luisa_tile_component(analysis analysis PRECOMPILED USES ir)
luisa_tile_component(transform transform PRECOMPILED USES analysis)
luisa_tile_component(target target USES types LINKS PkgConfig::HWLOC)
luisa_tile_component(plan plan PRECOMPILED USES analysis target)
luisa_tile_component(realize_cpu realize/cpu PRECOMPILED USES plan transform math)
luisa_tile_component(cache cache USES core LINKS SQLite::SQLite3)
luisa_tile_component(realize_simt realize/simt PRECOMPILED USES realize_cpu)
# Which build of the compiler an object on disk comes from.
file(GLOB_RECURSE identified CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/* ${PROJECT_SOURCE_DIR}/include/*)
set(build_id ${PROJECT_BINARY_DIR}/build_id.cpp)
string(TOUPPER "${CMAKE_BUILD_TYPE}" upper_build_type)
string(CONCAT settings "${PROJECT_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} "
       "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${upper_build_type}} LLVM ${LLVM_PACKAGE_VERSION}")
add_custom_command(OUTPUT ${build_id}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${build_id} "-DSETTINGS=${settings}"
          -P ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake
  DEPENDS ${identified} ${PROJECT_SOURCE_DIR}/cmake/build_id.cmake
  COMMENT "Hashing the sources" VERBATIM)
target_sources(lt_cache PRIVATE ${build_id})
luisa_tile_component(emit_llvm emit/llvm USES ir target PRIVATE_LINKS lt_llvm)
luisa_tile_precompile(lt_emit_llvm PRIVATE <algorithm> <memory> <string> <unordered_map> <vector>
  ${PROJECT_SOURCE_DIR}/src/ir/module.h <llvm/IR/IRBuilder.h> <llvm/IR/Intrinsics.h>)
luisa_tile_component(compile compile PRECOMPILED USES frontend interpreter realize_cpu realize_simt emit_llvm cache)
luisa_tile_component(runtime runtime PRECOMPILED USES compile LINKS Threads::Threads PkgConfig::HWLOC
                     Boost::context ${CMAKE_DL_LIBS})
luisa_tile_component(fuzz fuzz PRECOMPILED USES runtime)
# Making programs takes no time beside compiling and running them.
target_compile_options(lt_fuzz PRIVATE $<$<CONFIG:Release>:-O1>)

# Written in the language itself, against the public headers only.
luisa_tile_component(library library USES runtime)
luisa_tile_component(ops ops USES library)
# What other languages call.
luisa_tile_component(c_api c_api USES runtime)
