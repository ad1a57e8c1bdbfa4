// SPDX-License-Identifier: Apache-2.0
// expect: use of deleted function
#include <luisa/tile.h>

using namespace luisa::tile;

void f(ElementRef<float> a) { a = 1.0f; }
