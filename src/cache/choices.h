// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "cache/entry.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct sqlite3;

namespace luisa::tile::cache {

/// What measurements chose among several ways to do one thing, in a SQLite database beside the compiled kernels. Several
/// processes may use one file. Nothing here throws for what the file system does: what cannot be read is measured
/// again, what cannot be kept is not kept. For one thread at a time.
class ChoiceDatabase {
public:
    struct Choice {
        size_t winner = 0;
        std::vector<double> microseconds;///< of each candidate; infinite for one that is out
    };

    /// Opens `choices.sqlite3` in the folder that `choose_folder` gives. A file that is damaged or of another version
    /// is replaced. Null after `warn` was told why, or without a word if the environment says `off`.
    [[nodiscard]] static std::unique_ptr<ChoiceDatabase> open(
        const std::string &chosen_folder, std::function<void(const std::string &)> warn);
    ~ChoiceDatabase();
    ChoiceDatabase(const ChoiceDatabase &) = delete;
    ChoiceDatabase &operator=(const ChoiceDatabase &) = delete;

    /// What was kept for `key`; nothing that is not a whole choice.
    [[nodiscard]] std::optional<Choice> find(const Key &key);
    /// Keeps a choice and, of all, those used last: at most `most_choices`.
    void keep(const Key &key, const Choice &choice);
    static constexpr int most_choices = 4096;

private:
    ChoiceDatabase(std::string path, std::function<void(const std::string &)> warn)
        : _path{std::move(path)}, _warn{std::move(warn)} {}
    [[nodiscard]] int prepare();
    void report(const std::string &doing);
    std::string _path;
    std::function<void(const std::string &)> _warn;
    sqlite3 *_database = nullptr;
};

}// namespace luisa::tile::cache
