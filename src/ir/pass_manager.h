// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace luisa::tile::ir {

struct PassOptions {
#ifdef NDEBUG
    bool verify = false;
#else
    bool verify = true;///< check the module after each pass
#endif
    /// Passes to print the module after: their names with commas between, or "all". Empty: what the
    /// environment variable LUISA_TILE_DUMP says.
    std::string dump;
    std::function<void(std::string_view)> sink;///< gets the dumps; empty: stderr
};

/// What one run of a pass took.
struct PassReport {
    std::string name;
    std::chrono::nanoseconds time{};
    bool changed = false;///< the text differs; known only for passes whose dump was asked for
};

/// Runs named functions over a module in the order in which they were added. Not thread safe.
class PassManager {
public:
    explicit PassManager(PassOptions options = {});

    PassManager &add(std::string name, std::function<void(Module &)> pass);
    /// What a pass throws comes through; a module that it leaves broken is an internal error which
    /// names the pass.
    void run(Module &module);
    /// One entry for each pass that the last run finished.
    [[nodiscard]] const std::vector<PassReport> &reports() const noexcept { return _reports; }

private:
    struct Pass {
        std::string name;
        std::function<void(Module &)> run;
    };
    [[nodiscard]] bool dumps(std::string_view name) const;
    void dump(const PassReport &report, const std::string &text) const;

    PassOptions _options;
    std::vector<Pass> _passes;
    std::vector<PassReport> _reports;
};

}// namespace luisa::tile::ir
