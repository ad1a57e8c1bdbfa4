// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "support/both.h"

// What tests of back ends ask of GPUs, where LUISA_TILE_TEST_DEVICES names them:
//   ptx   kernels become PTX for each architecture of the catalog, without local memory; written to the folder of
//         LUISA_TILE_TEST_PTX if that is set
//   cuda  kernels run on the GPU "cuda"

namespace luisa::tile::test {

/// Makes PTX of a kernel; what cannot be realized is said.
void check_ptx(const Kernel &kernel, const BothOptions &options);

/// Runs a kernel on the GPU and compares all views; what cannot be realized is said.
void check_gpu(const Kernel &kernel, const std::vector<View> &reference, std::vector<View> views,
               const std::vector<uint64_t> &scalars, const BothOptions &options);

}// namespace luisa::tile::test
