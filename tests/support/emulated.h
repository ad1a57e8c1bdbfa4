// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/both.h"
#include "target/cuda.h"

#include <string_view>

// The emulator of GPUs beside the other back ends.

namespace luisa::tile::test {

/// Whether the environment variable LUISA_TILE_TEST_DEVICES, a list of names, asks for a back end beside the
/// interpreter: "cpu", "emulator", or "checked", the emulator observing every access. Without it that is the CPU.
[[nodiscard]] bool tests_device(std::string_view name);

/// What the emulator stands for in tests: the environment variable LUISA_TILE_TEST_SM, such as "90a", or null.
[[nodiscard]] const target::CudaFacts *tested_architecture();
/// Runs a module on the emulator and compares with what the interpreter left; what it cannot realize is said.
/// Checked, threads take turns in a random order as well.
void check_emulator(const ir::Module &module, const std::vector<View> &reference,
                    std::vector<View> views, const std::vector<uint64_t> &scalars,
                    const BothOptions &options, bool checked,
                    const target::CudaFacts *gpu = tested_architecture());
/// run_both, and the emulator of this architecture, also checked, whatever the environment asks for. Gives the plan.
std::string run_emulated(const char *architecture, const Kernel &kernel, std::vector<View> views,
                         const std::vector<uint64_t> &scalars = {}, BothOptions options = {});

}// namespace luisa::tile::test
