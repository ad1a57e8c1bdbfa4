# SPDX-License-Identifier: Apache-2.0
# The components joined in one shared library, the only target that users link.

add_library(luisa_tile SHARED ${PROJECT_SOURCE_DIR}/src/version.cpp)
add_library(LuisaTile::tile ALIAS luisa_tile)
set(exports ${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(luisa_tile PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  EXPORT_NAME tile LINK_DEPENDS ${exports} # libraries beside it are found whoever loads it
  BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
target_compile_definitions(luisa_tile PRIVATE LUISA_TILE_VERSION="${PROJECT_VERSION}")
target_compile_features(luisa_tile PUBLIC cxx_std_20)
target_include_directories(luisa_tile PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                             $<INSTALL_INTERFACE:include>)
target_link_options(luisa_tile PRIVATE LINKER:--version-script=${exports})
if(NOT LUISA_TILE_SANITIZE)
  target_link_options(luisa_tile PRIVATE LINKER:-z,defs)
endif()
# Objects rather than archives: most of the interface is reached only from programs, so a linker
# that looks for what is needed from within would drop it.
foreach(component ${LUISA_TILE_COMPONENTS})
  target_sources(luisa_tile PRIVATE $<TARGET_OBJECTS:${component}>)
endforeach()
target_link_libraries(luisa_tile PRIVATE ${LUISA_TILE_LIBRARIES})
