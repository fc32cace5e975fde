# What is installed, in two components, which are two Debian packages:
#   runtime   programs, services, manual, demo
#   dev       static libraries, headers and the CMake package `tailrace`, for consumers of one's own
include(CMakePackageConfigHelpers)

set(tailrace_components runtime dev)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)
set(tailrace_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tailrace)

# tailrace_export(TARGET NAME [HEADERS…]): installs a library, to be found as tailrace::NAME.
function(tailrace_export target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "HEADERS")
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
  install(TARGETS ${target} EXPORT tailrace ARCHIVE COMPONENT dev
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tailrace COMPONENT dev)
endfunction()

# The CMake package itself; after every tailrace_export().
function(tailrace_install_package)
  install(EXPORT tailrace FILE tailraceTargets.cmake NAMESPACE tailrace:: DESTINATION ${tailrace_package_dir} COMPONENT dev)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tailraceConfig.cmake.in
    ${PROJECT_BINARY_DIR}/tailraceConfig.cmake INSTALL_DESTINATION ${tailrace_package_dir} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/tailraceConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/tailraceConfig.cmake ${PROJECT_BINARY_DIR}/tailraceConfigVersion.cmake
          DESTINATION ${tailrace_package_dir} COMPONENT dev)
endfunction()
