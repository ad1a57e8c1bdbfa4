// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// A shared library opened at run time. It stays loaded until the process ends, since libraries with
/// worker threads cannot be unloaded safely.
class Library {
public:
    /// The first of `names` that the loader finds. With `global`, later libraries see its symbols.
    /// Empty when there is none; `why` then holds the loader's last message.
    [[nodiscard]] static std::optional<Library> open(const std::vector<std::string> &names,
                                                     std::string &why, bool global = false);
    /// Null when the library and what it depends on have no such symbol.
    template<class F> [[nodiscard]] F *find(const char *symbol) const {
        return reinterpret_cast<F *>(address(symbol));
    }
    /// The same; PeerMissing names the symbol that is missing.
    template<class F> [[nodiscard]] F *get(const char *symbol) const {
        return reinterpret_cast<F *>(required(symbol));
    }
    [[nodiscard]] const std::string &path() const noexcept { return _path; }

private:
    [[nodiscard]] void *address(const char *symbol) const;
    [[nodiscard]] void *required(const char *symbol) const;
    void *_handle = nullptr;
    std::string _path;
};

/// The Python environment that `./dev setup peers` makes: $VIRTUAL_ENV, else the first `.venv` in the
/// current folder, in the program's or above it. Empty when there is none.
[[nodiscard]] std::filesystem::path python_environment();

}// namespace bench
