// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace minilm {

/// What PyTorch gives for a sentence; reference.py writes the file.
struct Reference {
    std::string sentence;
    std::vector<int32_t> ids;
    std::vector<double> embedding;
};
/// std::runtime_error when the file is missing or incomplete.
[[nodiscard]] std::vector<Reference> read_references();

/// The cosine of the angle between two vectors.
[[nodiscard]] double cosine(const float *a, const double *b, int64_t size);

}// namespace minilm
