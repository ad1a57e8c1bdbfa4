// SPDX-License-Identifier: Apache-2.0
#include "cache/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

namespace luisa::tile::cache {

namespace {

constexpr const char *own_name = "luisa-tile";

/// A folder below the one that an environment variable names; relative paths are ignored as XDG asks.
std::optional<std::string> below(const char *variable, const std::string &rest) {
    const char *value = std::getenv(variable);
    if (!value || value[0] != '/') {
        return std::nullopt;
    }
    return value + ("/" + rest);
}

/// Makes each folder of a path; the last one tells the error.
int make_folders(const std::string &path) {
    int error = 0;
    for (size_t end = 1; end != std::string::npos;) {
        end = path.find('/', end);
        error = make_folder(path.substr(0, end).c_str());
        end = end == std::string::npos ? end : end + 1;
    }
    return error;
}

}// namespace

FolderChoice choose_folder(const std::string &chosen) {
    if (!chosen.empty()) {
        return {chosen, false};
    }
    if (const char *named = std::getenv("LUISA_TILE_CACHE"); named && *named) {
        return std::string{named} == "off" ? FolderChoice{std::nullopt, true}
                                           : FolderChoice{named, false};
    }
    if (auto path = below("XDG_CACHE_HOME", own_name)) {
        return {path, false};
    }
    return {below("HOME", std::string{".cache/"} + own_name), false};
}

std::string open_folder(const std::string &given, File &out) {
    auto path = given;
    while (path.size() > 1 && path.back() == '/') {
        path.pop_back();
    }
    constexpr int flags = O_RDONLY | O_DIRECTORY;
    auto error = open_file(AT_FDCWD, path.c_str(), flags, 0, out);
    if (error == ENOENT) {
        error = make_folders(path);
        if (error == 0) {
            error = open_file(AT_FDCWD, path.c_str(), flags, 0, out);
        }
    }
    if (error) {
        return error_text(error);
    }
    struct stat facts {};
    error = status(out, facts);
    std::string refused;
    if (error) {
        refused = error_text(error);
    } else if (facts.st_uid != geteuid()) {
        refused = "it belongs to another user";
    } else if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        refused = "others may write it";
    }
    if (!refused.empty()) {
        out = File{};
    }
    return refused;
}

}// namespace luisa::tile::cache
