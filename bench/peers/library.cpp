// SPDX-License-Identifier: Apache-2.0
#include "peers/library.h"

#include "peers/peer.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace bench {

std::optional<Library> Library::open(const std::vector<std::string> &names, std::string &why,
                                     bool global) {
    for (const auto &name : names) {
        if (auto *handle = dlopen(name.c_str(), RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL))) {
            Library library;
            library._handle = handle;
            library._path = name;
            return library;
        }
        why = dlerror();
    }
    return {};
}

void *Library::address(const char *symbol) const { return dlsym(_handle, symbol); }

void *Library::required(const char *symbol) const {
    auto *found = address(symbol);
    if (!found) {
        throw PeerMissing{fmt::format("'{}' has no function {}", _path, symbol)};
    }
    return found;
}

std::filesystem::path python_environment() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (const char *active = std::getenv("VIRTUAL_ENV"); active && fs::exists(active, ignored)) {
        return active;
    }
    if (auto here = fs::current_path(ignored) / ".venv"; fs::exists(here, ignored)) {
        return here;
    }
    for (auto folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
         folder.has_relative_path(); folder = folder.parent_path()) {
        if (fs::exists(folder / ".venv", ignored)) {
            return folder / ".venv";
        }
    }
    return {};
}

}// namespace bench
