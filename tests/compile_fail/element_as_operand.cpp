// SPDX-License-Identifier: Apache-2.0
// expect: an element of a view is loaded first: write A(i, j).load()
#include <luisa/tile.h>

using namespace luisa::tile;

void f(ElementRef<float> a, Scalar<float> s) { auto t = s + a; }
