// SPDX-License-Identifier: Apache-2.0
#include "cache/object_cache.h"

#include "cache/folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace luisa::tile::cache {

namespace {

// Beyond any kernel; keeps a wrong size in a header from asking for all memory.
constexpr off_t most_file_bytes = off_t{1} << 30;
// A trim reads the whole folder, so one comes after this part of the limit was written.
constexpr int64_t trims_a_limit = 16;

/// Unlike every other one that a living process uses.
std::string temporary_name() {
    static std::atomic<uint64_t> number{0};
    struct timespec now {};
    clock_gettime(CLOCK_REALTIME, &now);
    return ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(number.fetch_add(1)) + "-" +
           std::to_string(now.tv_nsec);
}

/// What is wrong with a file in place of an entry; null if it may be read.
const char *check_file(const struct stat &facts) {
    if (!S_ISREG(facts.st_mode)) {
        return "it is not a regular file";
    }
    if (facts.st_uid != geteuid()) {
        return "it belongs to another user";
    }
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return "others may write it";
    }
    if (facts.st_size < static_cast<off_t>(header_bytes) || facts.st_size > most_file_bytes) {
        return "its size is not that of an entry";
    }
    return nullptr;
}

/// Reads an entry. Returns an empty text, or why there is none.
std::string read_entry(const File &file, const Key &key, std::string &payload) {
    struct stat facts {};
    if (auto error = status(file, facts)) {
        return error_text(error);
    }
    if (const auto *wrong = check_file(facts)) {
        return wrong;
    }
    char head[header_bytes];
    if (auto error = read_all(file, head, sizeof(head), 0)) {
        return error_text(error);
    }
    Header header;
    auto size = static_cast<uint64_t>(facts.st_size);
    if (const auto *wrong = read_header(head, size, key, header)) {
        return wrong;
    }
    // Read rather than mapped: a file that another process cuts would end this one.
    std::string body(size - header_bytes, '\0');
    if (auto error = read_all(file, body.data(), body.size(), header_bytes)) {
        return error_text(error);
    }
    if (const auto *wrong = check_body(body, header, key)) {
        return wrong;
    }
    payload = body.substr(header.text_bytes);
    return {};
}

}// namespace

std::unique_ptr<ObjectCache> ObjectCache::open(const std::string &chosen, int64_t most_bytes,
                                               Warn warn) {
    auto choice = choose_folder(chosen);
    if (choice.off) {
        return nullptr;
    }
    if (!choice.path) {
        warn("compiled kernels are not kept on disk: none of LUISA_TILE_CACHE, XDG_CACHE_HOME and "
             "HOME "
             "names a folder; LUISA_TILE_CACHE=off says that none is wanted");
        return nullptr;
    }
    File folder;
    auto refused = open_folder(*choice.path, folder);
    if (!refused.empty()) {
        warn("compiled kernels are not kept in " + *choice.path + ": " + refused);
        return nullptr;
    }
    return std::unique_ptr<ObjectCache>{
        new ObjectCache{*choice.path, std::move(folder), most_bytes, std::move(warn)}};
}

void ObjectCache::warn(const std::string &what) {
    {
        std::lock_guard lock{_mutex};
        if (!_warned.insert(what).second) {
            return;
        }
    }
    _warn(what);
}

std::optional<std::string> ObjectCache::find(const Key &key) {
    File file;
    std::string payload, why;
    auto error = open_file(_folder.get(), key.name().c_str(), O_RDONLY, 0, file);
    if (error == ENOENT) {
        return std::nullopt;
    }
    why = error ? error_text(error) : read_entry(file, key, payload);
    if (!why.empty()) {
        reject(key, why);
        return std::nullopt;
    }
    // The time of the last use, for `trim`. That a folder is read only does not matter here.
    static_cast<void>(futimens(file.get(), nullptr));
    return payload;
}

void ObjectCache::reject(const Key &key, const std::string &why) {
    warn("the compiled kernel in " + _path + "/" + key.name() + " is not used: " + why);
}

void ObjectCache::keep(const Key &key, std::string_view payload) {
    {
        std::lock_guard lock{_mutex};
        if (!_writable) {
            return;
        }
    }
    auto why = write(key.name(), key, payload);
    if (!why.empty()) {
        warn("compiled kernels are not kept in " + _path + ": " + why);
        std::lock_guard lock{_mutex};
        _writable = false;
        return;
    }
    if (time_to_trim(payload.size())) {
        trim();
    }
}

std::string ObjectCache::write(const std::string &name, const Key &key, std::string_view payload) {
    auto temporary = temporary_name();
    File file;
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL;
    if (auto error = open_file(_folder.get(), temporary.c_str(), flags, 0600, file)) {
        return error_text(error);
    }
    auto head = head_of(key, payload);
    auto error = write_all(file, head.data(), head.size());
    error = error ? error : write_all(file, payload.data(), payload.size());
    auto closing = file.close();
    error = error ? error : closing;
    auto why = error ? error_text(error) : replace(temporary, name);
    if (!why.empty()) {
        static_cast<void>(remove_file(_folder.get(), temporary.c_str()));
    }
    return why;
}

/// A folder in place of the entry gives way if it is empty; all else that may be there does in any case.
std::string ObjectCache::replace(const std::string &temporary, const std::string &name) {
    auto error = rename_file(_folder.get(), temporary.c_str(), name.c_str());
    if (error == EISDIR) {
        error = remove_file(_folder.get(), name.c_str(), AT_REMOVEDIR);
        error = error ? error : rename_file(_folder.get(), temporary.c_str(), name.c_str());
    }
    return error ? error_text(error) : "";
}

bool ObjectCache::time_to_trim(size_t written) {
    std::lock_guard lock{_mutex};
    auto first = _untrimmed < 0;
    _untrimmed += static_cast<int64_t>(written) + (first ? 1 : 0);
    if (!first && _untrimmed < _most_bytes / trims_a_limit) {
        return false;
    }
    _untrimmed = 0;
    return true;
}

}// namespace luisa::tile::cache
