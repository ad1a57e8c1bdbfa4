# SPDX-License-Identifier: Apache-2.0
# The CMake package: find_package(LuisaTile) gives LuisaTile::tile.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/LuisaTile)
install(TARGETS luisa_tile EXPORT LuisaTileTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/luisa DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT LuisaTileTargets NAMESPACE LuisaTile:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/LuisaTileConfig.cmake.in
  ${PROJECT_BINARY_DIR}/LuisaTileConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LuisaTileConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LuisaTileConfig.cmake
              ${PROJECT_BINARY_DIR}/LuisaTileConfigVersion.cmake DESTINATION ${package_dir})
