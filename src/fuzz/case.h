// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzz/coverage.h"
#include "ir/module.h"

#include <memory>
#include <string>
#include <vector>

namespace luisa::tile::fuzz {

/// What one parameter of a random program is launched with.
struct Input {
    ScalarType type = ScalarType::FLOAT32;
    bool is_view = false;
    uint64_t scalar_bits = 0;
    std::vector<int64_t> extents, strides;///< of a view, in elements
    int64_t origin = 0;                   ///< element (0, …, 0) in `bytes`, counted in elements
    std::vector<uint8_t> bytes;           ///< of a view, with room around the elements it reaches
    int alias = -1;                       ///< the input whose bytes it is a view of; -1: its own
};

/// How a back end is asked to run it.
struct Settings {
    std::string device = "cpu";///< or "cuda-emulator", "cuda", "cuda:N"
    std::string cpu;           ///< as LLVM names it; empty: this machine
    int threads = 1;
    bool may_alias = false;
    bool backwards = false;   ///< tasks in reverse order
    int vector_bytes = 0;     ///< what the planner is told of the target; 0: what it has
    bool small_caches = false;///< the planner is told of caches that hardly anything fits into
    friend bool operator==(const Settings &, const Settings &) = default;
};

/// A program with all that it needs to run: kernels one after another over the same arguments.
struct Case {
    std::vector<std::unique_ptr<ir::Module>> kernels;///< at least one
    std::vector<Input> inputs;                       ///< one a parameter of each kernel
    Settings settings;
    std::vector<Feature> features;///< that the module does not show; not saved

    [[nodiscard]] Case copy() const;
};

/// The kernels as TileIR text, with a line between two of them, after comments that hold inputs and settings.
[[nodiscard]] std::string to_text(const Case &c);
/// Reads what `to_text` writes. ParseError or ValueError for anything else.
[[nodiscard]] Case from_text(const std::string &text, const std::string &file_name);

/// The value of bytes `index` of a view, as text for a message.
[[nodiscard]] std::string element_text(const Input &view, size_t index);

}// namespace luisa::tile::fuzz
