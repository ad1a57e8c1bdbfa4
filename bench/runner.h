// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "options.h"

namespace bench {

/// Measures what the options name, printing as it goes. Returns the exit status: 0, 1 when a case failed,
/// 2 when it was interrupted.
[[nodiscard]] int run(const Options &options);

}// namespace bench
