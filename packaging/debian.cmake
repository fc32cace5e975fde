# Two Debian packages by CPack (./dev deb): the component runtime is tailrace, dev is tailrace-dev.
find_program(GZIP gzip)
if(NOT GZIP)
  message(STATUS "no gzip: no Debian packages")
  return()
endif()

# What Debian wants of every package.
set(changelog ${CMAKE_CURRENT_BINARY_DIR}/changelog.gz)
add_custom_command(OUTPUT ${changelog} DEPENDS debian/changelog VERBATIM
  COMMAND sh -c "\"$1\" -9nc \"$2\" > \"$3\"" sh ${GZIP} ${CMAKE_CURRENT_SOURCE_DIR}/debian/changelog ${changelog})
add_custom_target(debian_changelog ALL DEPENDS ${changelog})
set(tailrace_packages "tailrace;tailrace-dev")
foreach(component package IN ZIP_LISTS tailrace_components tailrace_packages)
  install(FILES debian/copyright ${changelog} COMPONENT ${component}
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${package})
  install(FILES debian/${package}.lintian-overrides COMPONENT ${component} RENAME ${package}
          DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides)
endforeach()

configure_file(debian/postinst ${CMAKE_CURRENT_BINARY_DIR}/postinst @ONLY)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tailrace)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_CONTACT "Tailrace maintainers <tailrace@localhost>")
set(CPACK_COMPONENTS_ALL ${tailrace_components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME tailrace)
set(CPACK_DEBIAN_RUNTIME_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION
"moves what a GPU has computed to the processes that use it
One producer process runs a model and copies its output into a ring of
shared-memory buffers; any number of consumer processes lease the buffers,
turn them into files, and hand them back. Each of them is a service of its
own; a ledger knows what became of every item.

The producer needs LibTorch in ${TAILRACE_INSTALLED_LIBTORCH}, which Debian has
no package of: see /usr/share/doc/tailrace/docs/operations.md.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS systemd)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "python3-pip, gnuplot-nox")
# LibTorch is no package's: it is only looked at for the libraries that it wants in turn.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${LibTorch_RUNTIME_DIRS})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
    ${CMAKE_CURRENT_BINARY_DIR}/postinst ${CMAKE_CURRENT_LIST_DIR}/debian/prerm ${CMAKE_CURRENT_LIST_DIR}/debian/postrm
    ${CMAKE_CURRENT_LIST_DIR}/debian/conffiles)

set(CPACK_DEBIAN_DEV_PACKAGE_NAME tailrace-dev)
set(CPACK_DEBIAN_DEV_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_DESCRIPTION
"libraries for consumers of one's own in Tailrace pipelines
Static libraries, headers and a CMake package for programs that take part in a
pipeline as consumers, with an example.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libboost-dev, libsqlite3-dev, libspdlog-dev, libsystemd-dev, libtomlplusplus-dev, pkgconf")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "tailrace, cmake, g++")

include(CPack)
