// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace luisa::tile {

/// What an atomic update of one element does; every one gives the value from before it.
enum class AtomicOp : uint8_t {
    ADD,
    MINIMUM,///< as the elementwise `minimum`: NaN propagates, −0 is below +0
    MAXIMUM,
    EXCHANGE,        ///< the new value
    COMPARE_EXCHANGE,///< the new value where the old one has the expected bits
    AND,
    OR,
    XOR,
};

}// namespace luisa::tile
