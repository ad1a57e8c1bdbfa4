// SPDX-License-Identifier: Apache-2.0
// expect: an element of a view is no variable: write a.store(a.load() + value)
#include <luisa/tile.h>

using namespace luisa::tile;

void f(ElementRef<float> a, Scalar<float> s) { a += s; }
