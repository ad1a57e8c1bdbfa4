// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

namespace minilm {

/// Code points first … last, inclusive.
struct CodeRange {
    char32_t first, last;
};
/// The code points first, first + step, … last become themselves plus delta.
struct FoldRun {
    char32_t first, last;
    int step, delta;
};

/// Lower case without accents. In increasing order, as all of these.
extern const std::vector<FoldRun> letter_folds;
extern const std::vector<CodeRange> accents, punctuation, controls;

}// namespace minilm
