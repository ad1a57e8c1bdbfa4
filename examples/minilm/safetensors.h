// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace minilm {

/// The f32 tensors of a safetensors file: eight bytes with the length of a JSON header, the header (name → type,
/// shape, byte range), the bytes.
class Safetensors {
public:
    struct Entry {
        std::vector<int64_t> shape;
        const float *data = nullptr;///< lives as long as the file's object
    };
    /// std::runtime_error for a file that cannot be read or is damaged. Tensors of other types are left out.
    explicit Safetensors(const std::filesystem::path &path);
    /// std::runtime_error, with both shapes, unless there is one of that name and shape.
    [[nodiscard]] const float *get(const std::string &name,
                                   const std::vector<int64_t> &shape) const;

private:
    std::vector<char> _bytes;
    std::map<std::string, Entry> _entries;
};

}// namespace minilm
