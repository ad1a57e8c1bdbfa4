# SPDX-License-Identifier: Apache-2.0
# What the library itself needs; `./dev setup` installs all of it.

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
set(Boost_USE_STATIC_LIBS ON) # a few lines of assembly: nothing that users would have to install
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_package(SQLite3 REQUIRED)

# LLVM's headers are seen by the one folder that links this.
add_library(lt_llvm INTERFACE)
target_include_directories(lt_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(lt_llvm INTERFACE ${llvm_definitions})
if(LUISA_TILE_STATIC_LLVM)
  llvm_map_components_to_libnames(llvm_libraries Core OrcJIT Passes X86 NVPTX)
  target_link_libraries(lt_llvm INTERFACE ${llvm_libraries})
else()
  target_link_libraries(lt_llvm INTERFACE LLVM)
endif()
