// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include "ir/check_operations.h"

#include <luisa/tile/layout_ops.h>

#include <algorithm>
#include <bit>
#include <cmath>

// Operations that make, move, pick and fold elements.

namespace luisa::tile::fuzz {

Value *Program::coordinate(int64_t extent) {
    auto how = random.below(100);
    if (how < 35) {
        return index_constant(
            random.between(how < 5 ? -2 : 0, std::max<int64_t>(extent - 1, 0) + (how < 5 ? 2 : 0)));
    }
    if (how < 97) {
        // An index of a nest, if there is one: its range is known and small.
        auto *v = find([&](const Value *x) {
            return x->type()->is_scalar() && x->scalar() == ScalarType::INT64 && fact(x).known() &&
                   fact(x).magnitude() < 1000;
        });
        if (!v) {
            return index_constant(random.between(0, std::max<int64_t>(extent - 1, 0)));
        }
        if (random.chance(30)) {
            v = arithmetic(Opcode::ADD, {v, index_constant(random.between(-2, 3))});
        }
        return v ? v : index_constant(0);
    }
    auto *wild = scalar_of(ScalarType::INT64);
    return wild;
}

Value *Program::safe_coordinate(int64_t extent, int64_t length) {
    if (length > extent) {
        return nullptr;
    }
    auto *v = find([&](const Value *x) {
        return x->type()->is_scalar() && x->scalar() == ScalarType::INT64 && fact(x).low >= 0 &&
               fact(x).high <= static_cast<double>(extent - length);
    });
    return v && random.chance(70) ? v : index_constant(random.between(0, extent - length));
}

bool Program::make_iota() {
    auto d = any_dim();
    auto type = random.chance(40) && !wanted_type ? ScalarType::INT64 : any_type();
    if (type == ScalarType::BOOL || !info(type).computes || !affordable(d.extent)) {
        return false;
    }
    add(builder.value(Opcode::IOTA, {}, module.tile(type, {d})),
        {0, std::max(0.0, static_cast<double>(d.extent) - 1)});
    return true;
}

bool Program::make_broadcast() {
    auto *x = tile_of(any_type());
    auto list = x->type()->dims;
    for (auto &d : list) {
        for (const auto &full : dims) {
            d.extent = d.dim == full.dim && d.extent == 1 && random.chance(50) ? full.extent
                                                                               : d.extent;
        }
    }
    for (const auto &d : some_dims(0, 2)) {
        bool there = std::any_of(list.begin(), list.end(),
                                 [&](const auto &k) { return k.dim == d.dim; });
        if (!there && list.size() < 4) {
            list.push_back(d);
        }
    }
    random.shuffle(list);
    const auto *type = module.tile(x->scalar(), list);
    if (type->element_count() > most_elements || !affordable(type->element_count())) {
        return false;
    }
    add(builder.value(Opcode::BROADCAST, {x}, type), fact(x));
    return true;
}

bool Program::make_retype() {
    auto *x = find([](const Value *v) { return !v->type()->dims.empty(); });
    if (!x) {
        return false;
    }
    auto list = x->type()->dims;
    for (size_t i = 0; i < list.size(); ++i) {
        auto other = random.pick(dims);
        bool taken = std::any_of(list.begin(), list.end(),
                                 [&](const auto &k) { return k.dim == other.dim; });
        if (!taken && (other.extent == list[i].extent || list[i].extent == 1)) {
            list[i].dim = other.dim;
        }
    }
    add(builder.value(Opcode::RETYPE, {x}, module.tile(x->scalar(), list)), fact(x));
    return true;
}

std::vector<Value *> Program::coordinates_in(const ir::Type &type, std::vector<Dim> &addressed,
                                             std::vector<ir::DimExtent> &rest, bool all) {
    std::vector<Value *> at;
    rest = type.dims;
    auto order = type.dims;
    random.shuffle(order);
    auto count = all ? order.size()
                     : static_cast<size_t>(random.between(random.chance(10) ? 0 : 1,
                                                          static_cast<int64_t>(order.size())));
    for (size_t i = 0; i < count; ++i) {
        addressed.push_back(order[i].dim);
        at.push_back(coordinate(order[i].extent));
        rest.erase(std::find(rest.begin(), rest.end(), order[i]));
    }
    return at;
}

void Program::choose_box(const ir::Type &type, ir::AccessPayload &payload,
                         std::vector<ir::DimExtent> &rest) {
    if (payload.dims.empty() || random.chance(70)) {
        return;
    }
    std::vector<ir::DimExtent> free;
    for (const auto &d : some_dims(payload.dims.size(), dims.size())) {
        bool taken = std::any_of(rest.begin(), rest.end(),
                                 [&](const auto &k) { return k.dim == d.dim; });
        if (!taken) {
            free.push_back(d);
        }
    }
    int64_t elements = 1;
    for (const auto &d : rest) {
        elements *= d.extent;
    }
    for (size_t i = 0; i < payload.dims.size() && i < free.size(); ++i) {
        elements *= free[i].extent;
    }
    if (free.size() < payload.dims.size() || elements > most_elements || !affordable(elements)) {
        return;
    }
    payload.box.assign(free.begin(),
                       free.begin() + static_cast<std::ptrdiff_t>(payload.dims.size()));
    rest = ir::boxed_dims(type, payload);
}

bool Program::make_extract() {
    auto *x = find([](const Value *v) { return !v->type()->dims.empty(); });
    if (!x) {
        return false;
    }
    ir::AccessPayload payload;
    std::vector<ir::DimExtent> rest;
    std::vector<Value *> operands = {x};
    for (auto *c : coordinates_in(*x->type(), payload.dims, rest, false)) {
        operands.push_back(c);
    }
    choose_box(*x->type(), payload, rest);
    auto f = fact(x);
    Fact outside{0, 0};
    if (random.chance(30)) {
        operands.push_back(scalar_of(x->scalar()));
        payload.has_fallback = true;
        outside = fact(operands.back());
    }
    f = {std::min(f.low, outside.low), std::max(f.high, outside.high), f.pinned && outside.pinned};
    add(builder.value(Opcode::EXTRACT, operands, module.tile(x->scalar(), rest), payload), f);
    return true;
}

bool Program::make_insert() {
    auto *x = find([](const Value *v) { return !v->type()->dims.empty(); });
    if (!x) {
        return false;
    }
    ir::AccessPayload payload;
    std::vector<ir::DimExtent> rest;
    auto at = coordinates_in(*x->type(), payload.dims, rest, false);
    choose_box(*x->type(), payload, rest);
    auto *part = value_of(module.tile(x->scalar(), rest));
    std::vector<Value *> operands = {x, part};
    operands.insert(operands.end(), at.begin(), at.end());
    auto f = fact(x), g = fact(part);
    add(builder.value(Opcode::INSERT, operands, x->type(), payload),
        {std::min(f.low, g.low), std::max(f.high, g.high), f.pinned && g.pinned});
    return true;
}

bool Program::make_per() {
    auto *x = tile_of(any_type());
    std::vector<Value *> operands = {x};
    for (const auto &loop : loops) {
        if (random.chance(50)) {
            operands.push_back(loop.index);
        }
    }
    add(builder.value(Opcode::PER, operands, x->type()), fact(x));
    return true;
}

/// Strides that nest in random order, with holes and some of them backwards, and bits of the place exchanged.
std::string Program::random_layout(const ir::Type &type) {
    std::vector<LayoutMode> modes(type.dims.size());
    auto order = type.dims;
    random.shuffle(order);
    int64_t next = 1 + static_cast<int64_t>(random.below(2)), offset = random.between(0, 3);
    for (const auto &d : order) {
        if (d.extent < 1) {
            return "";
        }
        bool back = random.chance(15);
        offset += back ? next * (d.extent - 1) : 0;
        modes[static_cast<size_t>(type.find(d.dim))] = {{d.extent}, {{back ? -next : next}}};
        next = next * d.extent + random.between(0, 1);
    }
    auto map = IndexMap::mixed_radix(std::move(modes), {offset});
    if (random.chance(30)) {
        auto places = map.codomain().extents()[0];
        auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(places)));
        map = compose(IndexMap::swizzle(2, 0, 2, std::max<int64_t>(size, 16)),
                      map.into({std::max<int64_t>(size, 16)}));
    }
    return simplify(map).text();
}

/// An object whose first store covers it; what it then holds is a value that others update in parts.
bool Program::make_memory() {
    auto *part = tile_of(any_type());
    if (part->type()->dims.empty()) {
        return false;
    }
    ir::AllocPayload payload;
    if (random.chance(40)) {
        payload.layout = random_layout(*part->type());
    }
    auto *object = builder.value(Opcode::MEMORY_ALLOC, {}, part->type(), payload);
    if (random.chance(40) && fill_memory(object)) {
        return true;
    }
    add(builder.value(Opcode::INSERT, {object, part}, part->type(), ir::AccessPayload{}),
        fact(part));
    return true;
}

/// Each instance of a nest stores a row, so that all is stored at the end.
bool Program::fill_memory(Value *object) {
    auto rest = object->type()->dims;
    auto along = random.pick(rest);
    if (along.extent < 1 || along.extent * trips > 100 || pure) {
        return false;
    }
    rest.erase(std::find(rest.begin(), rest.end(), along));
    bool parallel = random.chance(60);
    ir::NestPayload payload{false, {along.dim}};
    if (parallel) {
        payload.updates = {ir::AncestorUpdate::INSERT};
    }
    auto *nest = builder.emit(parallel ? Opcode::PARALLEL : Opcode::SERIAL,
                              {builder.index(along.extent), object}, {object->type()}, payload, 1);
    Domain domain;
    domain.payload = payload;
    domain.extents = {along.extent};
    domain.count = along.extent;
    Fact f;
    {
        Scope scope{*this, nest->body()};
        enter(domain, nest);
        auto *state = module.add_argument(nest->body(), object->type());
        if (parallel) {
            split_owned(domain, {nest->body()->argument(0)});
        }
        make_operations(random.below(3));
        auto *row = value_of(module.tile(object->scalar(), rest));
        f = fact(row);
        auto *stored = builder.value(Opcode::INSERT, {state, row, nest->body()->argument(0)},
                                     object->type(), ir::AccessPayload{{along.dim}});
        builder.emit(Opcode::YIELD, {stored}, {});
    }
    add(nest->result(), f);
    return true;
}

namespace {

Fact reduced(Reducer reducer, const Fact &f, int64_t count) {
    auto n = static_cast<double>(count);
    switch (reducer) {
        case Reducer::ADD: return {std::min(n * f.low, 0.0), std::max(n * f.high, 0.0)};
        case Reducer::MULTIPLY: {
            auto m = std::pow(std::max(f.magnitude(), 1.0), n);
            return {-m, m};
        }
        case Reducer::MINIMUM:
        case Reducer::MAXIMUM:
        case Reducer::FMIN:
        case Reducer::FMAX: return {};// of nothing it is an extreme value
        case Reducer::LOGICAL_AND:
        case Reducer::LOGICAL_OR: return {0, 1};
        case Reducer::ARGMIN:
        case Reducer::ARGMAX: return {-1, n};
        default: return {};
    }
}

}// namespace

bool Program::make_reduction() {
    auto *x = find([](const Value *v) { return !v->type()->dims.empty(); });
    if (!x) {
        return false;
    }
    ir::ReducePayload payload;
    payload.reducer = static_cast<Reducer>(random.below(13));
    for (int i = 0; i < 20 && !ir::folds(payload.reducer, x->scalar()); ++i) {
        payload.reducer = static_cast<Reducer>(random.below(13));
    }
    if (!ir::folds(payload.reducer, x->scalar())) {
        return false;
    }
    auto rest = x->type()->dims;
    auto order = rest;
    random.shuffle(order);
    auto folded = static_cast<size_t>(random.between(1, static_cast<int64_t>(order.size())));
    int64_t count = 1;
    for (size_t i = 0; i < folded; ++i) {
        payload.dims.push_back(order[i].dim);
        count *= order[i].extent;
        rest.erase(std::find(rest.begin(), rest.end(), order[i]));
    }
    bool position = payload.reducer == Reducer::ARGMIN || payload.reducer == Reducer::ARGMAX;
    if (position && count == 0) {
        return false;
    }
    auto f = fact(x);
    auto result = reduced(payload.reducer, f, count);
    bool rounds = is_float(x->scalar()) &&
                  (payload.reducer == Reducer::ADD || payload.reducer == Reducer::MULTIPLY);
    bool exact = !rounds ||
                 (f.known() && std::max(-result.low, result.high) <= exact_limit(x->scalar()));
    payload.policy = exact ? static_cast<ReductionPolicy>(random.below(5))
                           : random.pick({ReductionPolicy::FOLD_LEFT, ReductionPolicy::FOLD_RIGHT,
                                          ReductionPolicy::BALANCED_TREE});
    payload.nan = random.chance(30) ? NanPolicy::IGNORE : NanPolicy::PROPAGATE;
    std::vector<Value *> operands = {x};
    if (random.chance(30)) {
        auto *mask = find([&](const Value *m) {
            return m->scalar() == ScalarType::BOOL &&
                   std::all_of(m->type()->dims.begin(), m->type()->dims.end(), [&](const auto &d) {
                       auto at = x->type()->find(d.dim);
                       return at >= 0 &&
                              (d.extent == 1 ||
                               x->type()->dims[static_cast<size_t>(at)].extent == d.extent);
                   });
        });
        operands.push_back(mask ? mask : value_of(module.tile(ScalarType::BOOL, x->type()->dims)));
        payload.has_mask = true;
    }
    const auto *type = module.tile(position ? ScalarType::INT64 : x->scalar(), rest);
    if (!affordable(x->type()->element_count())) {
        return false;
    }
    result.pinned = !is_float(x->scalar());
    add(builder.value(Opcode::REDUCE_EXPR, operands, type, payload), result,
        x->type()->element_count());
    return true;
}

}// namespace luisa::tile::fuzz
