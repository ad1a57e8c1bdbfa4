// SPDX-License-Identifier: Apache-2.0
#pragma once
// Devices, tensors, shaders, streams.
#include <luisa/tile/device.h>
#include <luisa/tile/stream.h>
#include <luisa/tile/tensor.h>
