// SPDX-License-Identifier: Apache-2.0
#pragma once
// Devices, buffers, tensors, shaders, streams.
#include <luisa/tile/buffer.h>
#include <luisa/tile/device.h>
#include <luisa/tile/jit.h>
#include <luisa/tile/profiler.h>
#include <luisa/tile/program.h>
#include <luisa/tile/stream.h>
#include <luisa/tile/tensor.h>
