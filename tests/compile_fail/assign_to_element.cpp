// SPDX-License-Identifier: Apache-2.0
// expect: an element of a view is no variable: write .store(value)
#include <luisa/tile.h>

using namespace luisa::tile;

void f(ElementRef<float> a) { a = 1.0f; }
