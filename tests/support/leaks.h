// SPDX-License-Identifier: Apache-2.0
#pragma once
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

namespace luisa::tile::test {

/// While it lives, what this thread allocates may leak: LLVM loses its memory when a fatal error ends
/// a compilation in the middle. Nothing without the address sanitizer.
class ExpectedLeaks {
public:
#if defined(__SANITIZE_ADDRESS__)
    ExpectedLeaks() { __lsan_disable(); }
    ~ExpectedLeaks() { __lsan_enable(); }
#else
    ExpectedLeaks() {}
    ~ExpectedLeaks() {}
#endif
    ExpectedLeaks(const ExpectedLeaks &) = delete;
    ExpectedLeaks &operator=(const ExpectedLeaks &) = delete;
};

}// namespace luisa::tile::test
