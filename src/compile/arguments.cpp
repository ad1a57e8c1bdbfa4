// SPDX-License-Identifier: Apache-2.0
#include "compile/arguments.h"

namespace luisa::tile::compiler {

std::vector<uint64_t> words_of(const std::vector<KernelArgument> &arguments) {
    std::vector<uint64_t> words;
    for (const auto &a : arguments) {
        if (a.extents.empty() && !a.data) {
            words.push_back(a.scalar_bits);
            continue;
        }
        words.push_back(reinterpret_cast<uint64_t>(a.data));
        for (const auto *list : {&a.extents, &a.strides}) {
            for (auto n : *list) {
                words.push_back(static_cast<uint64_t>(n));
            }
        }
    }
    return words;
}

}// namespace luisa::tile::compiler
