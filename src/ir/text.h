// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/module.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace luisa::tile::ir {

struct PrintOptions {
    bool locations = false;///< append `// file:line` to each operation; not part of canonical text
};

/// Where each operation stands in a printed text; lets messages point into it.
struct PrintedModule {
    std::string text;
    std::unordered_map<const Operation *, uint32_t> lines;///< 1-based
};

/// The canonical text of a module: equal programs print equal text, whatever order their types,
/// dimensions and values were made in. O(size).
[[nodiscard]] std::string print(const Module &module, const PrintOptions &options = {});
[[nodiscard]] PrintedModule print_with_lines(const Module &module,
                                             const PrintOptions &options = {});

/// Reads what `print` writes; `parse(print(m))` prints as `m` does. Throws ParseError with
/// `file_name:line:column` on malformed text, on nesting deeper than 256 and on text beyond 64 MiB;
/// throws VerifyError when the text is well formed but the program is not. `file_name` is copied.
[[nodiscard]] std::unique_ptr<Module> parse(std::string_view text,
                                            std::string_view file_name = "<text>");

}// namespace luisa::tile::ir
