// SPDX-License-Identifier: Apache-2.0
#include "support/both.h"

#include "compile/arguments.h"
#include "support/emulated.h"
#include "support/on_gpu.h"

namespace luisa::tile::test {

int64_t View::count() const {
    int64_t n = 1;
    for (auto e : extents) {
        n *= e;
    }
    return n;
}

std::vector<int64_t> dense_strides(const std::vector<int64_t> &extents) {
    std::vector<int64_t> strides(extents.size(), 1);
    for (size_t i = extents.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * std::max<int64_t>(extents[i], 1);
    }
    return strides;
}

View dense_bytes(ScalarType type, std::vector<int64_t> extents, const void *values, size_t count,
                 size_t size) {
    View v;
    v.type = type;
    v.extents = std::move(extents);
    v.strides = dense_strides(v.extents);
    auto n = static_cast<size_t>(v.count());
    v.bytes.resize(n * size + 64, 0xa5);
    for (size_t i = 0; i < n && count != 0; ++i) {
        std::memcpy(v.bytes.data() + i * size,
                    static_cast<const uint8_t *>(values) + i % count * size, size);
    }
    return v;
}

void random_floats(uint32_t seed, float (&values)[random_count]) {
    std::mt19937 engine{seed};
    std::uniform_real_distribution<float> d{-1, 1};
    for (auto &x : values) {
        x = d(engine);
    }
}

void random_integers(uint32_t seed, int range, int (&values)[random_count]) {
    std::mt19937 engine{seed};
    for (auto &x : values) {
        x = static_cast<int>(engine() % static_cast<uint32_t>(2 * range + 1)) - range;
    }
}

KernelArgument argument_of(View &v) {
    KernelArgument a;
    a.data = v.bytes.data() + static_cast<size_t>(v.origin) * size_of(v.type);
    a.extents = v.extents;
    a.strides = v.strides;
    return a;
}

std::vector<KernelArgument> arguments_of(const ir::Module &module, std::vector<View> &views,
                                         const std::vector<uint64_t> &scalars) {
    std::vector<KernelArgument> list;
    size_t view = 0, scalar = 0;
    for (auto *p : module.kernel()->body->arguments()) {
        if (p->type()->is_view()) {
            list.push_back(argument_of(views.at(view++)));
        } else {
            KernelArgument a;
            a.scalar_bits = scalars.at(scalar++);
            list.push_back(a);
        }
    }
    return list;
}

void run_cpu(const compiler::CpuKernel &kernel, const std::vector<KernelArgument> &arguments) {
    auto words = compiler::words_of(arguments);
    auto *scratch = std::aligned_alloc(64, (kernel.scratch_bytes + 127) / 64 * 64);
    auto *shared = std::aligned_alloc(64, (kernel.shared_bytes + 127) / 64 * 64);
    std::memset(scratch, 0xfe, (kernel.scratch_bytes + 127) / 64 * 64);
    for (const auto &phase : kernel.phases) {
        auto count = phase.task_count;
        if (phase.count) {
            phase.count(words.data(), 0, 0, scratch, shared);
            count = *static_cast<int64_t *>(scratch);
        }
        for (int64_t t = 0; t < count; t += phase.grain) {
            phase.run(words.data(), t, std::min(count, t + phase.grain), scratch, shared);
        }
    }
    std::free(scratch);
    std::free(shared);
}

double element_value(const View &v, size_t i) {
    uint64_t bits = 0;
    std::memcpy(&bits, v.bytes.data() + i * size_of(v.type), size_of(v.type));
    return is_float(v.type) ? arith::to_double(v.type, bits)
           : is_signed(v.type)
               ? static_cast<double>(static_cast<int64_t>(arith::to_double(v.type, bits)))
               : static_cast<double>(arith::to_double(v.type, bits));
}

::testing::AssertionResult same(const View &expected, const View &got, double tolerance,
                                size_t which) {
    auto width = size_of(expected.type);
    for (size_t i = 0; i * width + width <= expected.bytes.size(); ++i) {
        if (std::memcmp(expected.bytes.data() + i * width, got.bytes.data() + i * width, width) ==
            0) {
            continue;
        }
        double e = element_value(expected, i), g = element_value(got, i);
        if (is_float(expected.type)) {
            if (std::isnan(e) && std::isnan(g)) {
                continue;
            }
            // An infinity is within no tolerance of a number: their difference would be as infinite as the bound.
            if (tolerance > 0 && std::isfinite(e) && std::isfinite(g) &&
                std::fabs(e - g) <= tolerance * std::max(1.0, std::fabs(e))) {
                continue;
            }
        }
        return ::testing::AssertionFailure()
               << "view " << which << ", element " << i << ": interpreter " << e << ", got " << g;
    }
    return ::testing::AssertionSuccess();
}

std::vector<View> run_both(const Kernel &kernel, std::vector<View> views,
                           std::vector<uint64_t> scalars, BothOptions options) {
    const auto &module = *module_of(kernel);
    auto reference = views;
    interpreter::run(module, arguments_of(module, reference, scalars));
    for (bool checked : {false, true}) {
        if (tests_device(checked ? "checked" : "emulator") && !(checked && options.one_at_a_time)) {
            check_emulator(module, reference, views, scalars, options, checked);
        }
    }
    if (tests_device("ptx")) {
        check_ptx(kernel, options);
    }
    if (tests_device("cuda") && !options.one_at_a_time) {
        check_gpu(kernel, reference, views, scalars, options);
    }
    if (!tests_device("cpu")) {
        return reference;
    }
    compiler::CpuOptions cpu{emit::host_cpu(), 1, options.may_alias, options.facts};
    auto compiled = compiler::compile_cpu(module, cpu);
    run_cpu(*compiled, arguments_of(module, views, scalars));
    for (size_t i = 0; i < views.size(); ++i) {
        EXPECT_TRUE(same(reference[i], views[i], options.tolerance, i))
            << kernel.ir_text() << compiled->plan;
    }
    return reference;
}

}// namespace luisa::tile::test
