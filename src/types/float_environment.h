// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace luisa::tile {

/// Round to nearest, subnormals kept, exceptions masked, while it lives; then the thread's former
/// control word. Results thus never depend on what the calling program has set.
class DefaultFloatEnvironment {
public:
    DefaultFloatEnvironment() noexcept;
    ~DefaultFloatEnvironment() noexcept;
    DefaultFloatEnvironment(const DefaultFloatEnvironment &) = delete;
    DefaultFloatEnvironment &operator=(const DefaultFloatEnvironment &) = delete;

private:
    uint64_t _saved;
};

}// namespace luisa::tile
