// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/dim.h>

#include <mutex>
#include <set>
#include <string>

namespace luisa::tile {

// The one source of identities, for captured kernels and for those read from text: a library that
// combines both never sees two dimensions under one identity.
Dim dim(const char *label) {
    static std::mutex mutex;
    static std::set<std::string> labels;
    static uint32_t next = Dim::positional_limit;
    std::lock_guard lock{mutex};
    return {next++, labels.insert(label).first->c_str()};
}

}// namespace luisa::tile
