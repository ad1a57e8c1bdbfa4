// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "emit/llvm/ptx.h"

#include <gtest/gtest.h>

#include <string>

// PTX of hand-written Machine text, and what ptxas says of it.

namespace luisa::tile::emit::test {

/// PTX of `text` for an architecture of the catalog; its functions take `words` argument words.
[[nodiscard]] GpuCode ptx_of(const std::string &text, const std::string &architecture = "sm_90a",
                             size_t words = 8, int threads = 128, int isa = 0);

/// How often `what` stands in `text`.
[[nodiscard]] int count(const std::string &text, const std::string &what);

/// ptxas' path, or empty where there is none.
[[nodiscard]] const std::string &assembler();

/// What ptxas -v says of PTX; fails the test when it does not assemble, spills, or uses a frame.
[[nodiscard]] std::string assemble(const std::string &ptx, const std::string &architecture);

}// namespace luisa::tile::emit::test
