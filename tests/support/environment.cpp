// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

namespace {

/// Tests compile what they test: kernels that an earlier run left on disk stay out of it, unless the caller or
/// the test itself names a folder.
[[maybe_unused]] const int no_cache = setenv("LUISA_TILE_CACHE", "off", 0);

}// namespace
