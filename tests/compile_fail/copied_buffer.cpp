// SPDX-License-Identifier: Apache-2.0
// expect: Buffer<float>
#include <luisa/tile.h>

using namespace luisa::tile;

auto f(const Buffer<float> &a) { return Buffer<float>{a}; }
