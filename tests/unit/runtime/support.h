// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <luisa/tile/runtime.h>

#include "frontend/kernel_access.h"
#include "runtime/device.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

// Shaders whose tasks are C++ functions: the runtime without the compiler.

namespace luisa::tile::test {

struct Parameter {
    ScalarType type = ScalarType::FLOAT32;
    std::vector<int64_t> extents;///< none: a scalar
    bool read_only = false;
    std::vector<int64_t> strides;
    std::vector<std::string> names;///< of runtime extents
};

/// A kernel that has these parameters and stores to the ones that are not read-only.
inline std::shared_ptr<ir::Module> signature_module(const std::vector<Parameter> &parameters) {
    auto module = std::make_shared<ir::Module>();
    auto *f = module->add_function("hand_made");
    char name = 'A';
    for (const auto &p : parameters) {
        f->parameter_names.push_back({name++});
        if (p.extents.empty()) {
            module->add_argument(f->body, module->scalar(p.type));
            continue;
        }
        ir::Type type;
        type.kind = ir::TypeKind::VIEW;
        type.scalar = p.type;
        type.read_only = p.read_only;
        type.strides = p.strides;
        for (size_t i = 0; i < p.extents.size(); ++i) {
            type.axes.push_back({p.extents[i], i < p.names.size() ? p.names[i] : ""});
        }
        module->add_argument(f->body, module->intern(type));
    }
    return module;
}

/// A shader with hand-made code for a CPU device.
inline Shader hand_made(const Device &device, const std::vector<Parameter> &parameters,
                        compiler::CpuKernel code, bool noalias = false) {
    auto module = signature_module(parameters);
    module->functions()[0].noalias = noalias;
    auto impl = std::make_shared<runtime::ShaderImpl>();
    impl->device = device.impl();
    for (auto *parameter : module->kernel()->body->arguments()) {
        impl->words += cpu::argument_words(*parameter->type());
        if (parameter->type()->is_view() && !parameter->type()->read_only) {
            impl->stored.push_back(parameter);
        }
    }
    impl->module = std::move(module);
    impl->code = std::make_shared<const compiler::CpuKernel>(std::move(code));
    return Shader{impl};
}

inline compiler::CpuKernel one_phase(emit::TaskFunction run, int64_t tasks, int64_t grain = 1,
                                     double task_us = 0) {
    compiler::CpuKernel code;
    code.phases.push_back({run, nullptr, tasks, grain, task_us});
    return code;
}

/// The error of kind E that `body` throws; a failure of the test when there is none.
template<class E> std::string message_of(const std::function<void()> &body) {
    try {
        body();
    } catch (const E &error) {
        return error.what();
    } catch (const std::exception &error) {
        ADD_FAILURE() << "another error: " << error.what();
        return "";
    }
    ADD_FAILURE() << "no error";
    return "";
}

}// namespace luisa::tile::test
