# SPDX-License-Identifier: Apache-2.0
# One static library per folder of src/, with the edges that scripts/check_layering.py checks in the
# sources. A folder without sources yet is an empty interface.

set(LUISA_TILE_COMPONENTS "") # the ones that have sources
set(LUISA_TILE_LIBRARIES "") # what those link from outside

# luisa_tile_component(NAME FOLDER [USES component…] [LINKS library…] [PRIVATE_LINKS library…])
function(luisa_tile_component name folder)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "" "USES;LINKS;PRIVATE_LINKS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  set(target lt_${name})
  set(scope INTERFACE)
  if(sources)
    add_library(${target} STATIC ${sources})
    target_link_libraries(${target} PRIVATE ${ARG_PRIVATE_LINKS})
    set(LUISA_TILE_COMPONENTS ${LUISA_TILE_COMPONENTS} ${target} PARENT_SCOPE)
    set(LUISA_TILE_LIBRARIES ${LUISA_TILE_LIBRARIES} ${ARG_LINKS} ${ARG_PRIVATE_LINKS} PARENT_SCOPE)
    set(scope PUBLIC)
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
luisa_tile_component(ir ir USES types layout)
luisa_tile_component(frontend frontend USES ir)
luisa_tile_component(interpreter interpreter USES ir math)
luisa_tile_component(analysis analysis USES ir)
luisa_tile_component(transform transform USES analysis)
luisa_tile_component(target target USES types LINKS PkgConfig::HWLOC)
luisa_tile_component(plan plan USES analysis target)
luisa_tile_component(realize_cpu realize/cpu USES plan transform math)
luisa_tile_component(cache cache USES core LINKS PkgConfig::SQLITE)
luisa_tile_component(emit_llvm emit/llvm USES ir target PRIVATE_LINKS lt_llvm)
luisa_tile_precompile(lt_emit_llvm PRIVATE <llvm/ExecutionEngine/Orc/LLJIT.h> <llvm/IR/IRBuilder.h>
  <llvm/IR/Intrinsics.h> <llvm/Passes/PassBuilder.h>)
luisa_tile_component(compile compile USES frontend interpreter realize_cpu emit_llvm cache)
luisa_tile_component(fuzz fuzz USES compile)
luisa_tile_component(runtime runtime USES compile LINKS Threads::Threads PkgConfig::HWLOC
                     ${CMAKE_DL_LIBS})

# Written in the language itself, against the public headers only.
luisa_tile_component(library library USES runtime)
luisa_tile_component(ops ops USES library)
