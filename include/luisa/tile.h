// SPDX-License-Identifier: Apache-2.0
#pragma once
// The whole surface: language, kernels and, where present, the runtime.
#include <luisa/tile/autotune.h>
#include <luisa/tile/check.h>
#include <luisa/tile/contract_scan.h>
#include <luisa/tile/contracts.h>
#include <luisa/tile/device_contracts.h>
#include <luisa/tile/device_ops.h>
#include <luisa/tile/device_sort.h>
#include <luisa/tile/einsum.h>
#include <luisa/tile/exchange.h>
#include <luisa/tile/kernel.h>
#include <luisa/tile/layout_draw.h>
#include <luisa/tile/layout_export.h>
#include <luisa/tile/layout_interop.h>
#include <luisa/tile/memory.h>
#include <luisa/tile/ops.h>
#include <luisa/tile/packed.h>
#include <luisa/tile/quantize.h>
#include <luisa/tile/runtime.h>
#include <luisa/tile/scatter.h>
#include <luisa/tile/sort.h>
#include <luisa/tile/topk_contract.h>
#include <luisa/tile/types.h>
#include <luisa/tile/version.h>
