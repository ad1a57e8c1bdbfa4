# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS luisa_tile EXPORT LuisaTileTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set_target_properties(luisa_tile PROPERTIES EXPORT_NAME tile)
install(DIRECTORY include/luisa DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT LuisaTileTargets NAMESPACE LuisaTile::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LuisaTile)
configure_package_config_file(cmake/LuisaTileConfig.cmake.in
  ${CMAKE_BINARY_DIR}/LuisaTileConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LuisaTile)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/LuisaTileConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/LuisaTileConfig.cmake
              ${CMAKE_BINARY_DIR}/LuisaTileConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/LuisaTile)
