// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace luisa::tile::emit {

/// While it lives, a fatal error of LLVM on this thread throws CompileError instead of ending the
/// process. What LLVM had allocated for the failed compilation is leaked.
class FatalErrorsThrow {
public:
    FatalErrorsThrow();
    ~FatalErrorsThrow();
    FatalErrorsThrow(const FatalErrorsThrow &) = delete;
    FatalErrorsThrow &operator=(const FatalErrorsThrow &) = delete;
};

}// namespace luisa::tile::emit
