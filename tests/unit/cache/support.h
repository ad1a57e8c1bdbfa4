// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cache/object_cache.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace luisa::tile::test {

namespace fs = std::filesystem;

/// An empty folder that goes with the test.
class Folder {
public:
    Folder() {
        std::string form = (fs::temp_directory_path() / "luisa-tile-test-XXXXXX").string();
        _path = mkdtemp(form.data());
    }
    ~Folder() {
        std::error_code ignored;
        fs::remove_all(_path, ignored);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    [[nodiscard]] const std::string &path() const { return _path; }
    [[nodiscard]] fs::path operator/(const std::string &name) const {
        return fs::path{_path} / name;
    }

private:
    std::string _path;
};

/// A cache of a folder, and what it warns of.
struct Cache {
    explicit Cache(const std::string &folder, int64_t most_bytes = int64_t{1} << 30)
        : impl{cache::ObjectCache::open(
              folder, most_bytes, [this](const std::string &text) { warnings.push_back(text); })} {}
    [[nodiscard]] std::optional<std::string> find(const std::string &key) const {
        return impl->find(cache::Key{key});
    }
    void keep(const std::string &key, const std::string &payload) const {
        impl->keep(cache::Key{key}, payload);
    }
    std::vector<std::string> warnings;
    std::unique_ptr<cache::ObjectCache> impl;
};

inline std::string name_of(const std::string &key) { return cache::Key{key}.name(); }

inline std::string read_file(const fs::path &path) {
    std::ifstream in{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{in}, {}};
}

inline void write_file(const fs::path &path, const std::string &bytes) {
    std::ofstream out{path, std::ios::binary | std::ios::trunc};
    out << bytes;
    out.close();
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

/// Bytes that look like nothing in particular.
inline std::string noise(size_t size, uint32_t seed) {
    std::string bytes(size, '\0');
    for (auto &byte : bytes) {
        seed = seed * 1664525u + 1013904223u;
        byte = static_cast<char>(seed >> 24);
    }
    return bytes;
}

constexpr int ended_by_signal = 100;

/// What `body` returns in a child process, or `ended_by_signal`.
template<class Body> int in_child(const Body &body) {
    auto child = fork();
    if (child == 0) {
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : ended_by_signal;
}

}// namespace luisa::tile::test
