// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cache/entry.h"
#include "cache/system.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

namespace luisa::tile::cache {

/// Gets each problem of a cache once.
using Warn = std::function<void(const std::string &)>;

/// Compiled kernels in files of one folder, each found by all that it was made from. Several processes may use
/// one folder. Nothing here throws for what the file system does: an entry that cannot be used is none, and
/// what cannot be kept is not kept. Thread safe.
///
/// Checksums find damage. They are no protection from a program of the same user that writes entries.
class ObjectCache {
public:
    /// Opens the folder that `choose_folder` gives, or returns null after a warning, or without one if the
    /// environment says `off`.
    [[nodiscard]] static std::unique_ptr<ObjectCache> open(const std::string &chosen,
                                                           int64_t most_bytes, Warn warn);

    /// The payload of an entry. One that is damaged, foreign or of another version counts as missing.
    [[nodiscard]] std::optional<std::string> find(const Key &key);
    /// Says that the payload of an entry that `find` gave cannot be used.
    void reject(const Key &key, const std::string &why);
    /// Keeps a payload: under a temporary name first, so that nobody sees a part of it. Replaces what is there.
    void keep(const Key &key, std::string_view payload);
    /// Removes the entries used longest ago while all are larger than the limit, and what writers that died
    /// left. Returns at once if another process is doing that.
    void trim();

private:
    ObjectCache(std::string path, File folder, int64_t most_bytes, Warn warn)
        : _path{std::move(path)}, _folder{std::move(folder)},
          _most_bytes{most_bytes}, _warn{std::move(warn)} {}
    void warn(const std::string &what);
    std::string write(const std::string &name, const Key &key, std::string_view payload);
    std::string replace(const std::string &temporary, const std::string &name);
    [[nodiscard]] bool time_to_trim(size_t written);

    std::string _path;
    File _folder;
    int64_t _most_bytes;
    Warn _warn;
    std::mutex _mutex;///< of what follows
    std::set<std::string> _warned;
    bool _writable = true;
    int64_t _untrimmed = -1;///< bytes written since the last trim; negative before the first
};

}// namespace luisa::tile::cache
