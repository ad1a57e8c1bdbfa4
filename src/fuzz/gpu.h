// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzz/case.h"
#include "interpreter/interpreter.h"

namespace luisa::tile::fuzz {

// Random programs on GPUs and on their emulator. Both throw UnsupportedError for what has no realization.

/// Runs the kernels on the emulator, one after the other, with every access followed and threads that take turns in
/// a random order. Throws RaceError, BoundsError or DeviceError for what is found.
void run_on_emulator(const Case &c, std::vector<Input> &inputs);

/// Runs the kernels on a GPU, "cuda" or "cuda:N".
void run_on_gpu(const Case &c, std::vector<Input> &inputs, const std::string &device);

/// What a kernel is launched with, on the memory of the host.
[[nodiscard]] std::vector<KernelArgument> arguments_of(std::vector<Input> &inputs);

}// namespace luisa::tile::fuzz
