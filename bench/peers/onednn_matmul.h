// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "peers/library.h"
#include "peers/peer.h"

namespace bench {

/// oneDNN's matmul primitive on operands as they lie, made once and then run: what a user of narrow types calls.
/// An empty call where the library has no such functions, or no primitive for the problem.
[[nodiscard]] TimedCall onednn_matmul(const Library &library, const NarrowGemmProblem &problem);

}// namespace bench
