// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/jit.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace luisa::tile::runtime {

/// Entries are few and found again at every call, so a scan over their facts is all that is needed.
struct ShaderTable::Impl {
    struct Entry {
        std::vector<int64_t> facts;
        Shader shader;
    };
    std::mutex mutex;
    std::vector<Entry> entries;

    const Shader *find(std::span<const int64_t> facts) const {
        for (const auto &entry : entries) {
            if (std::equal(facts.begin(), facts.end(), entry.facts.begin(), entry.facts.end())) {
                return &entry.shader;
            }
        }
        return nullptr;
    }
};

ShaderTable::ShaderTable() : _impl{std::make_unique<Impl>()} {}
ShaderTable::~ShaderTable() = default;

Shader ShaderTable::find_or_make(std::span<const int64_t> facts, Shader (*make)(void *context),
                                 void *context) {
    std::lock_guard lock{_impl->mutex};
    if (const auto *shader = _impl->find(facts)) {
        return *shader;
    }
    auto shader = make(context);
    _impl->entries.push_back({{facts.begin(), facts.end()}, shader});
    return shader;
}

}// namespace luisa::tile::runtime
