// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm/fatal.h"

#include <luisa/tile/error.h>

#include <llvm/Support/ErrorHandling.h>

#include <mutex>

namespace luisa::tile::emit {

namespace {

thread_local int depth = 0;
std::mutex mutex;
int users = 0;

void on_fatal_error(void *, const char *reason, bool) {
    if (depth > 0) {
        throw CompileError{std::string{"LLVM cannot generate code: "} + reason};
    }
}

}// namespace

// The handler is the process's, so it stays only while some thread of ours generates code.
FatalErrorsThrow::FatalErrorsThrow() {
    std::lock_guard lock{mutex};
    if (users++ == 0) {
        llvm::remove_fatal_error_handler();
        llvm::install_fatal_error_handler(on_fatal_error);
    }
    ++depth;
}

FatalErrorsThrow::~FatalErrorsThrow() {
    std::lock_guard lock{mutex};
    --depth;
    if (--users == 0) {
        llvm::remove_fatal_error_handler();
    }
}

}// namespace luisa::tile::emit
