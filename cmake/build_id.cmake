# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=… -DOUT=… -DSETTINGS=… -P build_id.cmake: writes a source with a hash of all sources of the
# library and of what compiles them. Objects that one build kept on disk are not for another.

file(GLOB_RECURSE sources LIST_DIRECTORIES false RELATIVE ${ROOT} ${ROOT}/src/* ${ROOT}/include/*)
list(SORT sources)
set(all "${SETTINGS}\n")
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND all "${source} ${hash}\n")
endforeach()
string(SHA256 id "${all}")
file(CONFIGURE OUTPUT ${OUT} CONTENT "#include \"cache/build.h\"

namespace luisa::tile::cache {

const char *build_id() noexcept { return \"${id}\"; }

}// namespace luisa::tile::cache
")
# Unchanged content keeps its time, which the build system takes for a file that is still to be made.
file(TOUCH ${OUT})
