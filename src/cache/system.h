// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/stat.h>

#include <cstddef>
#include <string>

namespace luisa::tile::cache {

/// Called before each step on the file system with its name ("open", "write", "close", "rename", …). What it
/// returns is the error number that the step then fails with, 0 for none. Null but in tests, which also end the
/// process in it.
using FaultHook = int (*)(const char *step);
void set_fault_hook(FaultHook hook) noexcept;

/// Owns a file descriptor.
class File {
public:
    File() = default;
    explicit File(int descriptor) noexcept : _descriptor{descriptor} {}
    File(File &&other) noexcept : _descriptor{other.release()} {}
    File &operator=(File &&other) noexcept;
    File(const File &) = delete;
    File &operator=(const File &) = delete;
    ~File();
    [[nodiscard]] int get() const noexcept { return _descriptor; }
    [[nodiscard]] explicit operator bool() const noexcept { return _descriptor >= 0; }
    int release() noexcept;
    /// 0 or the error number: some file systems tell only here that nothing could be written.
    int close() noexcept;

private:
    int _descriptor = -1;
};

// The system's calls, with EINTR retried. They return 0 or an error number.

/// Opens `name` in the folder `at` (or AT_FDCWD), never through a symbolic link and never waiting.
int open_file(int at, const char *name, int flags, mode_t mode, File &out) noexcept;
int status(const File &file, struct stat &out) noexcept;
/// Reads exactly `size` bytes from `offset`; EIO if there are fewer.
int read_all(const File &file, void *to, size_t size, size_t offset) noexcept;
int write_all(const File &file, const void *from, size_t size) noexcept;
int rename_file(int folder, const char *from, const char *to) noexcept;
int remove_file(int folder, const char *name, int flags = 0) noexcept;
int make_folder(const char *path) noexcept;
/// "No space left on device".
[[nodiscard]] std::string error_text(int error);

}// namespace luisa::tile::cache
