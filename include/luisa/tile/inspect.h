// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/kernel.h>

#include <string>
#include <vector>

namespace luisa::tile {

/// One parameter of a kernel, in signature order.
struct ParameterInfo {
    /// A dimension of a view. `extent` is -1 for a runtime extent; equal names are one extent.
    struct Axis {
        int64_t extent = 0;
        std::string name;
    };
    std::string name;///< may be empty
    bool is_view = false, read_only = false;
    ScalarType type = ScalarType::FLOAT32;
    std::vector<Axis> axes;      ///< of a view
    std::vector<int64_t> strides;///< of a view, in elements; empty: dense row-major
    bool runtime_strides = false;///< some stride is set by each launch; `strides` is then empty
};
/// The signature of a kernel. CaptureError for an empty handle.
[[nodiscard]] std::vector<ParameterInfo> parameters(const Kernel &kernel);

/// What the CPU back end makes of a kernel, as text.
struct KernelForms {
    std::string plan, machine, llvm, assembly;
};
/// The forms for a CPU as LLVM names it: empty or this machine's name, or a generic x86-64 level
/// ("x86-64", "x86-64-v3", "x86-64-v4"), else TargetError. `llvm` and `assembly` stay empty unless
/// wanted. UnsupportedError names the operation that the back end does not realize.
[[nodiscard]] KernelForms forms(const Kernel &kernel, const std::string &cpu = {},
                                bool llvm = false, bool assembly = false);

/// What NVIDIA GPUs get of a kernel, as text.
struct GpuForms {
    std::string plan, machine, llvm, ptx;
};
/// The forms for an architecture: "80", "89", "90", "90a", "100" or "100a", with or without "sm_" before it, else
/// TargetError. No GPU and no driver are needed. `llvm` and `ptx` stay empty unless wanted. UnsupportedError names
/// the operation that is not realized for GPUs.
[[nodiscard]] GpuForms gpu_forms(const Kernel &kernel, const std::string &architecture = "90a",
                                 bool llvm = false, bool ptx = true);

}// namespace luisa::tile
