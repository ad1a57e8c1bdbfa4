// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/c_api.h>

#include <exception>

namespace luisa::tile::c_api {

/// The status of an exception, whose text becomes the last error of this thread.
[[nodiscard]] luisa_tile_status note(std::exception_ptr exception) noexcept;

/// Runs `f`; what it throws becomes a status.
template<class F> [[nodiscard]] luisa_tile_status guarded(const F &f) noexcept {
    try {
        f();
        return LUISA_TILE_OK;
    } catch (...) {
        return note(std::current_exception());
    }
}

}// namespace luisa::tile::c_api
