// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include <luisa/tile/layout_ops.h>

#include <algorithm>
#include <bit>

// Whole programs: one kernel or several over the same arguments, with tasks or with values at the root.

namespace luisa::tile::fuzz {

namespace {

void choose_dims(Program &p) {
    static constexpr int64_t extents[] = {0, 1, 1, 2, 3, 4, 5, 7, 8, 8, 15, 16, 16, 17, 31, 32, 33};
    static constexpr const char *labels[] = {"a", "b", "c", "d", "e", "f"};
    static constexpr ScalarType common[] = {
        ScalarType::FLOAT32, ScalarType::FLOAT32, ScalarType::INT64,    ScalarType::INT32,
        ScalarType::FLOAT16, ScalarType::FLOAT64, ScalarType::BFLOAT16, ScalarType::BOOL};
    for (const auto *label : labels) {
        auto extent = p.dims.size() == 5 ? p.random.pick(p.dims).extent : p.random.pick(extents);
        p.dims.push_back({dim(label), extent});
    }
    p.palette.push_back(p.random.pick(common));
    while (p.random.chance(60)) {
        p.palette.push_back(static_cast<ScalarType>(p.random.below(scalar_type_count)));
    }
}

void make_body(Program &p) {
    if (p.random.chance(25)) {
        p.scalar_constant(ScalarType::INT64);
        p.choose_goals();
        for (auto n = 1 + p.random.below(3); n > 0; --n) {
            p.make_tasks();
        }
        return;
    }
    for (int i = 0; i < 2; ++i) {
        p.make_load();
    }
    p.scalar_constant(ScalarType::INT64);
    p.choose_goals();
    p.open_goals();
    p.make_operations(2 + p.random.below(8));
    for (int i = 0; i < 4; ++i) {
        p.make_sink();
    }
    p.make_store();
}

Settings choose_settings(Random &random, bool aliases) {
    static constexpr const char *cpus[] = {"", "", "", "x86-64", "x86-64-v3", "x86-64-v4"};
    Settings settings;
    settings.cpu = random.pick(cpus);
    settings.threads = random.pick({1, 2, 3, 7});
    settings.may_alias = aliases || random.chance(30);
    settings.backwards = random.chance(40);
    if (random.chance(25)) {
        settings.vector_bytes = random.pick({16, 32});
        settings.small_caches = random.chance(50);
    }
    return settings;
}

/// A number of instances as digits, the first the fastest.
std::vector<int64_t> digits_of(Random &random, int64_t extent) {
    std::vector<int64_t> digits;
    for (int64_t d = 2; d * d <= extent; ++d) {
        while (extent % d == 0 && extent > d && random.chance(60)) {
            digits.push_back(d);
            extent /= d;
        }
    }
    digits.push_back(extent);
    random.shuffle(digits);
    return digits;
}

}// namespace

/// Digits of all axes in one random order, and some of them backwards or, where numbers are all of some bits, bits
/// exchanged: one to one onto the numbers of the instances.
std::string Program::random_order(const std::vector<int64_t> &extents) {
    std::vector<LayoutMode> modes(extents.size());
    std::vector<std::pair<size_t, size_t>> order;
    for (size_t axis = 0; axis < extents.size(); ++axis) {
        modes[axis].shape = digits_of(random, extents[axis]);
        modes[axis].stride.resize(modes[axis].shape.size());
        for (size_t i = 0; i < modes[axis].shape.size(); ++i) {
            order.emplace_back(axis, i);
        }
    }
    random.shuffle(order);
    int64_t count = 1, offset = 0;
    bool bits = random.chance(40);
    for (auto [axis, i] : order) {
        auto extent = modes[axis].shape[i];
        bool back = !bits && random.chance(20);
        offset += back ? count * (extent - 1) : 0;
        modes[axis].stride[i] = {back ? -count : count};
        count *= extent;
    }
    auto map = IndexMap::mixed_radix(std::move(modes), {offset});
    if (bits && count >= 4 && std::has_single_bit(static_cast<uint64_t>(count))) {
        map = compose(IndexMap::swizzle(1, 0, 1, count), map.into({count}));
    }
    return simplify(map.into({count})).text();
}

void Program::make_tasks() {
    auto domain = make_domain();
    bool empty = domain.count == 0;
    if (!domain.payload.is_range && !empty && random.chance(60)) {
        // More of them, since tasks are claimed in portions.
        domain.extents[0] = domain.count = random.pick({4, 8, 12, 16, 30, 64});
        domain.extents.resize(1);
        domain.payload.dims.resize(1);
        if (random.chance(50)) {
            domain.extents.push_back(random.between(1, 4));
            domain.payload.dims.push_back(dim("task"));
            domain.count *= domain.extents[1];
        }
        domain.operands.clear();
        for (auto extent : domain.extents) {
            domain.operands.push_back(index_constant(extent));
        }
        if (random.chance(60)) {
            domain.payload.layout = random_order(domain.extents);
        }
    }
    auto *nest = builder.emit(Opcode::PARALLEL, domain.operands, {}, domain.payload, 1);
    Scope scope{*this, nest->body()};
    enter(domain, nest);
    split_owned(domain, nest->body()->arguments());
    open_goals();
    make_operations(2 + random.below(6));
    for (int i = 0; i < 2; ++i) {
        make_sink();
    }
    make_store();
    builder.emit(Opcode::YIELD, {}, {});
}

Case generate(Random random) {
    Case c;
    std::vector<std::unique_ptr<Program>> programs;
    bool aliases = false;
    for (auto count = random.chance(15) ? random.between(2, 4) : 1; count > 0; --count) {
        auto &module = *c.kernels.emplace_back(std::make_unique<ir::Module>());
        auto *kernel = module.add_function("fuzz");
        auto &p = *programs.emplace_back(std::make_unique<Program>(random, module));
        p.builder.set_region(kernel->body);
        if (c.kernels.size() == 1) {
            choose_dims(p);
            p.make_parameters();
        } else {
            p.take_parameters(*programs.front());
        }
        make_body(p);
        aliases = std::any_of(p.inputs.begin(), p.inputs.end(),
                              [](const Input &input) { return input.alias >= 0; });
        kernel->noalias = !aliases && p.random.chance(50);
        // What this kernel has more than the others they take, too.
        for (size_t k = 0; k + 1 < c.kernels.size(); ++k) {
            auto *body = c.kernels[k]->kernel()->body;
            for (auto i = body->arguments().size(); i < p.inputs.size(); ++i) {
                c.kernels[k]->add_argument(
                    body, c.kernels[k]->intern(*kernel->body->argument(i)->type()));
            }
        }
        programs.front()->inputs = p.inputs;
        c.features.insert(c.features.end(), p.features.begin(), p.features.end());
        random = p.random;
    }
    c.inputs = programs.front()->inputs;
    if (aliases) {
        c.features.push_back(Feature::ALIASING_VIEWS);
    }
    c.settings = choose_settings(random, aliases);
    return c;
}

}// namespace luisa::tile::fuzz
