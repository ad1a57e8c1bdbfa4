// SPDX-License-Identifier: Apache-2.0
#include "types/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#error "the floating-point control word of this processor is not known"
#endif

namespace luisa::tile {

namespace {

#if defined(__x86_64__)

constexpr uint64_t default_control = 0x1f80;// all exceptions masked, nearest, no FTZ, no DAZ

uint64_t read_control() noexcept { return _mm_getcsr(); }
void write_control(uint64_t control) noexcept { _mm_setcsr(static_cast<unsigned>(control)); }

#else

constexpr uint64_t default_control = 0;

uint64_t read_control() noexcept {
    uint64_t control;
    asm volatile("mrs %0, fpcr" : "=r"(control)::"memory");
    return control;
}
void write_control(uint64_t control) noexcept {
    asm volatile("msr fpcr, %0" ::"r"(control) : "memory");
}

#endif

}// namespace

DefaultFloatEnvironment::DefaultFloatEnvironment() noexcept : _saved{read_control()} {
    write_control(default_control);
}

DefaultFloatEnvironment::~DefaultFloatEnvironment() noexcept { write_control(_saved); }

}// namespace luisa::tile
