// SPDX-License-Identifier: Apache-2.0
#include "cache/object_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <vector>

namespace luisa::tile::cache {

namespace {

constexpr time_t hour = 3600;

struct Entry {
    std::string name;
    timespec used;
    int64_t bytes;
};

bool is_entry(const std::string &name) {
    return name.size() == 64 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Left by a writer that died: older than an hour and its process is gone, or older than a day, since numbers
/// of processes come again.
bool is_left(const std::string &name, const struct stat &facts) {
    constexpr size_t prefix = 5;
    if (!name.starts_with(".tmp-")) {
        return false;
    }
    auto age = std::time(nullptr) - facts.st_mtim.tv_sec;
    int process = 0;
    std::from_chars(name.data() + prefix, name.data() + name.size(), process);
    bool gone = process <= 0 || (::kill(process, 0) < 0 && errno == ESRCH);
    return age > 24 * hour || (age > hour && gone);
}

/// The entries of a folder. Removes what dead writers left.
std::vector<Entry> list(DIR *folder) {
    std::vector<Entry> entries;
    while (const auto *found = readdir(folder)) {
        std::string name = found->d_name;
        struct stat facts {};
        if ((!is_entry(name) && !name.starts_with(".tmp-")) ||
            fstatat(dirfd(folder), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(facts.st_mode)) {
            continue;
        }
        if (is_entry(name)) {
            entries.push_back({std::move(name), facts.st_mtim, int64_t{facts.st_blocks} * 512});
        } else if (is_left(name, facts)) {
            static_cast<void>(remove_file(dirfd(folder), name.c_str()));
        }
    }
    return entries;
}

}// namespace

void ObjectCache::trim() {
    // Opened anew, since a lock belongs to what was opened, and the folder's other users share that.
    File own;
    if (open_file(_folder.get(), ".", O_RDONLY | O_DIRECTORY, 0, own) ||
        (flock(own.get(), LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)) {
        return;// where locks are not supported, two that remove at once do no harm
    }
    std::unique_ptr<DIR, int (*)(DIR *)> folder{fdopendir(own.get()), closedir};
    if (!folder) {
        return;
    }
    static_cast<void>(own.release());
    auto entries = list(folder.get());
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
        return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec
                                              : a.used.tv_nsec < b.used.tv_nsec;
    });
    int64_t total = 0;
    for (const auto &entry : entries) {
        total += entry.bytes;
    }
    // Readers that have one open keep it.
    for (const auto &entry : entries) {
        if (total <= _most_bytes) {
            break;
        }
        if (remove_file(dirfd(folder.get()), entry.name.c_str()) == 0) {
            total -= entry.bytes;
        }
    }
}

}// namespace luisa::tile::cache
