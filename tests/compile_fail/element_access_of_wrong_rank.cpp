// SPDX-License-Identifier: Apache-2.0
// expect: takes one index a dimension of the view
#include <luisa/tile.h>

using namespace luisa::tile;

void f(TensorView<float, 2> A, Scalar<float> s) { A(0).store(s); }
