// SPDX-License-Identifier: Apache-2.0
#pragma once
// Library functions over tiles, in namespace luisa::tile::ops: what models use, written in the language.
#include <luisa/tile/ops/activation.h>
#include <luisa/tile/ops/block_scaled.h>
#include <luisa/tile/ops/conv.h>
#include <luisa/tile/ops/loss.h>
#include <luisa/tile/ops/norm.h>
#include <luisa/tile/ops/pool.h>
#include <luisa/tile/ops/rope.h>
#include <luisa/tile/ops/softmax.h>
#include <luisa/tile/ops/window.h>
