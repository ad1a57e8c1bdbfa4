// SPDX-License-Identifier: Apache-2.0
#include "cache/system.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace luisa::tile::cache {

namespace {

std::atomic<FaultHook> fault_hook{nullptr};

int fault(const char *step) noexcept {
    auto hook = fault_hook.load(std::memory_order_acquire);
    return hook ? hook(step) : 0;
}

/// Runs a call until it is not interrupted; gives its error number.
template<class Call> int attempt(const char *step, const Call &call) noexcept {
    for (;;) {
        auto error = fault(step);
        if (error == 0) {
            error = call() < 0 ? errno : 0;
        }
        if (error != EINTR) {
            return error;
        }
    }
}

}// namespace

void set_fault_hook(FaultHook hook) noexcept { fault_hook.store(hook, std::memory_order_release); }

File &File::operator=(File &&other) noexcept {
    if (this != &other) {
        close();
        _descriptor = other.release();
    }
    return *this;
}

File::~File() { close(); }

int File::release() noexcept { return std::exchange(_descriptor, -1); }

int File::close() noexcept {
    auto descriptor = release();
    if (descriptor < 0) {
        return 0;
    }
    auto injected = fault("close");
    // Linux has closed it even when it was interrupted: once more might close another thread's file.
    auto error = ::close(descriptor) < 0 && errno != EINTR ? errno : 0;
    return injected ? injected : error;
}

int open_file(int at, const char *name, int flags, mode_t mode, File &out) noexcept {
    return attempt("open", [&] {
        auto descriptor = ::openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode);
        if (descriptor >= 0) {
            out = File{descriptor};
        }
        return descriptor;
    });
}

int status(const File &file, struct stat &out) noexcept {
    return attempt("stat", [&] { return ::fstat(file.get(), &out); });
}

int read_all(const File &file, void *to, size_t size, size_t offset) noexcept {
    auto *bytes = static_cast<char *>(to);
    while (size > 0) {
        ssize_t count = 0;
        auto error = attempt("read", [&] {
            return count = ::pread(file.get(), bytes, size, static_cast<off_t>(offset));
        });
        if (error || count == 0) {
            return error ? error : EIO;
        }
        auto advance = static_cast<size_t>(count);
        bytes += advance;
        offset += advance;
        size -= advance;
    }
    return 0;
}

int write_all(const File &file, const void *from, size_t size) noexcept {
    const auto *bytes = static_cast<const char *>(from);
    while (size > 0) {
        ssize_t count = 0;
        auto error = attempt("write", [&] { return count = ::write(file.get(), bytes, size); });
        if (error) {
            return error;
        }
        bytes += count;
        size -= static_cast<size_t>(count);
    }
    return 0;
}

int rename_file(int folder, const char *from, const char *to) noexcept {
    return attempt("rename", [&] { return ::renameat(folder, from, folder, to); });
}

int remove_file(int folder, const char *name, int flags) noexcept {
    return attempt("unlink", [&] { return ::unlinkat(folder, name, flags); });
}

int make_folder(const char *path) noexcept {
    auto error = attempt("mkdir", [&] { return ::mkdir(path, 0700); });
    return error == EEXIST ? 0 : error;
}

std::string error_text(int error) { return std::generic_category().message(error); }

}// namespace luisa::tile::cache
