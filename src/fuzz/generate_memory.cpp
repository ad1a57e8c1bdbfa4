// SPDX-License-Identifier: Apache-2.0
#include "fuzz/build.h"

#include "types/convert.h"

#include <algorithm>
#include <cstring>

// Parameters and their contents, loads and stores.

namespace luisa::tile::fuzz {

namespace {

constexpr int64_t extents_of_views[] = {0, 1, 2, 3, 5, 7, 8, 16, 17, 33};
enum class Contents : uint8_t { SMALL, RANDOM, SPECIAL };

uint64_t special(Random &random, ScalarType type) {
    auto width = 8 * size_of(type);
    auto sign = uint64_t{random.below(2)} << (width - 1);
    if (!is_float(type)) {
        uint64_t codes[] = {0, 1, ~uint64_t{0}, sign, sign - 1, random.next(), 2, width};
        return arith::normalize(type, random.pick(codes));
    }
    auto mantissa = type == ScalarType::FLOAT64         ? 52u
                    : type == ScalarType::FLOAT32       ? 23u
                    : type == ScalarType::FLOAT16       ? 10u
                    : type == ScalarType::BFLOAT16      ? 7u
                    : type == ScalarType::FLOAT8_E4M3FN ? 3u
                                                        : 2u;
    auto one = uint64_t{1} << mantissa;
    auto exponents = ((uint64_t{1} << (width - 1)) - 1) & ~(one - 1);
    uint64_t codes[] = {0,
                        1,
                        one - 1,
                        one,
                        exponents - 1,
                        exponents,
                        exponents + 1,
                        exponents | (one >> 1),
                        random.next(),
                        random.next(),
                        exponents / 2 & ~(one - 1)};
    auto code = random.pick(codes);
    return arith::normalize(type, (code & ((uint64_t{1} << (width - 1)) - 1)) | sign);
}

uint64_t element(Random &random, ScalarType type, Contents contents, int64_t range) {
    if (type == ScalarType::BOOL) {
        return random.below(2);
    }
    if (contents == Contents::SPECIAL) {
        return special(random, type);
    }
    bool narrow = is_float(type) && size_of(type) == 1;
    if (contents == Contents::RANDOM && is_float(type)) {
        auto x = 4 * random.unit() - 2;
        return narrow ? arith::quantize(type, x, true) : arith::from_double(type, x);
    }
    if (contents == Contents::RANDOM) {
        return arith::normalize(type, random.next() >> random.below(64));
    }
    auto n = random.between(is_signed(type) ? -range : 0, range);
    return narrow ? arith::quantize(type, static_cast<double>(n), true)
                  : arith::from_int64(type, n);
}

Fact fact_of(ScalarType type, Contents contents, int64_t range) {
    if (type == ScalarType::BOOL) {
        return {0, 1};
    }
    if (contents != Contents::SMALL) {
        return {};
    }
    return {is_signed(type) ? -static_cast<double>(range) : 0.0, static_cast<double>(range)};
}

/// Strides of a layout that keeps elements apart; of a read-only view also others.
std::vector<int64_t> strides_for(Random &random, const std::vector<int64_t> &extents,
                                 bool read_only) {
    std::vector<size_t> order(extents.size());
    for (size_t i = 0; i < order.size(); ++i) {
        order[i] = order.size() - 1 - i;
    }
    if (random.chance(40)) {
        random.shuffle(order);
    }
    std::vector<int64_t> strides(extents.size(), 1);
    int64_t next = random.chance(30) ? 2 : 1;
    for (auto axis : order) {
        strides[axis] = next;
        next = next * std::max<int64_t>(extents[axis], 1) + (random.chance(30) ? 1 : 0);
        if (random.chance(10)) {
            strides[axis] = -strides[axis];
        } else if (read_only && random.chance(10)) {
            strides[axis] = 0;
        }
    }
    return strides;
}

std::vector<int64_t> dense(const std::vector<int64_t> &extents) {
    std::vector<int64_t> strides(extents.size(), 1);
    for (size_t i = extents.size(); i-- > 1;) {
        strides[i - 1] = strides[i] * std::max<int64_t>(extents[i], 1);
    }
    return strides;
}

void fill(Random &random, Input &input, Contents contents, int64_t range) {
    int64_t low = 0, high = 0;
    for (size_t i = 0; i < input.extents.size(); ++i) {
        auto reach = std::max<int64_t>(input.extents[i] - 1, 0) * input.strides[i];
        (reach < 0 ? low : high) += reach;
    }
    constexpr int64_t room = 5;
    input.origin = room - low;
    auto width = size_of(input.type);
    auto count = static_cast<size_t>(high - low + 1 + 2 * room);
    input.bytes.resize(count * width);
    for (size_t i = 0; i < count; ++i) {
        auto bits = element(random, input.type, contents, range);
        std::memcpy(input.bytes.data() + i * width, &bits, width);
    }
}

}// namespace

void Program::make_parameters() {
    auto *body = builder.region();
    auto readers = random.below(4), writers = 1 + random.below(2), scalars = random.below(3);
    for (size_t i = 0; i < readers + writers; ++i) {
        ViewFact view;
        Input input;
        ir::Type type;
        type.kind = ir::TypeKind::VIEW;
        view.read_only = type.read_only = i < readers;
        type.scalar = input.type = any_type();
        input.is_view = true;
        auto rank = 1 + std::min(random.below(3), random.below(3));
        for (size_t k = 0; k < rank; ++k) {
            auto extent = random.chance(50) ? random.pick(extents_of_views)
                                            : any_dim().extent * random.between(1, 3);
            extent = std::min<int64_t>(extent, rank == 3 ? 8 : 40);
            view.extents.push_back(extent);
            // Equal extents of one name are one extent.
            bool runtime = random.chance(30);
            type.axes.push_back({runtime ? ir::runtime_value : extent,
                                 runtime ? "n" + std::to_string(extent) : ""});
        }
        input.extents = view.extents;
        input.strides = dense(view.extents);
        if (random.chance(35)) {
            input.strides = strides_for(random, view.extents, view.read_only);
            type.strides = input.strides;
            for (auto &s : type.strides) {
                s = random.chance(40) ? ir::runtime_value : s;
            }
        }
        auto contents = random.chance(60)   ? Contents::SMALL
                        : random.chance(60) ? Contents::SPECIAL
                                            : Contents::RANDOM;
        auto range = random.between(1, 4);
        fill(random, input, contents, range);
        view.fact = fact_of(type.scalar, contents, range);
        if (!view.read_only) {
            // Stores change what was known.
            view.fact = type.scalar == ScalarType::BOOL ? Fact{0, 1} : Fact{};
            view.fact.pinned = !is_float(type.scalar);
            own(view, false);
        }
        view.input = inputs.size();
        view.value = module.add_argument(body, module.intern(type));
        views.push_back(view);
        inputs.push_back(std::move(input));
    }
    for (auto aliases = random.chance(25) ? 1 + random.below(2) : 0; aliases > 0; --aliases) {
        make_alias();
    }
    for (size_t i = 0; i < scalars; ++i) {
        Input input;
        input.type = any_type();
        bool small = random.chance(60);
        input.scalar_bits = element(random, input.type, small ? Contents::SMALL : Contents::SPECIAL,
                                    3);
        auto *v = module.add_argument(body, module.scalar(input.type));
        add(v, fact_of(input.type, small ? Contents::SMALL : Contents::SPECIAL, 3));
        inputs.push_back(std::move(input));
    }
}

void Program::own(const ViewFact &view, bool whole) {
    owned.push_back({views.size(), {}, whole});
    for (auto e : view.extents) {
        owned.back().axes.push_back({nullptr, e});
    }
}

void Program::take_parameters(const Program &earlier) {
    inputs = earlier.inputs;
    dims = earlier.dims;
    palette = earlier.palette;
    const auto &arguments = earlier.module.kernel()->body->arguments();
    std::vector<bool> shared(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (inputs[i].alias >= 0) {
            shared[i] = shared[static_cast<size_t>(inputs[i].alias)] = true;
        }
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
        auto type = *arguments[i]->type();
        if (!inputs[i].is_view) {
            add(module.add_argument(builder.region(), module.intern(type)),
                earlier.fact(arguments[i]));
            continue;
        }
        ViewFact view;
        view.extents = inputs[i].extents;
        view.input = i;
        auto known = std::find_if(earlier.views.begin(), earlier.views.end(),
                                  [&](const ViewFact &v) { return v.input == i; });
        if (type.read_only && !shared[i] && known != earlier.views.end()) {
            view.fact = known->fact;
        } else {
            view.fact = type.scalar == ScalarType::BOOL ? Fact{0, 1} : Fact{};
            view.fact.pinned = !is_float(type.scalar);
        }
        // Where views share memory, all of them count as written.
        type.read_only |= !shared[i] && random.chance(50);
        view.read_only = type.read_only;
        if (!view.read_only || shared[i]) {
            own(view, inputs[i].alias >= 0);
        }
        view.value = module.add_argument(builder.region(), module.intern(type));
        views.push_back(std::move(view));
    }
}

Value *Program::new_view(ScalarType scalar, const std::vector<int64_t> &extents, uint8_t byte) {
    ir::Type type;
    type.kind = ir::TypeKind::VIEW;
    type.scalar = scalar;
    Input input;
    input.type = scalar;
    input.is_view = true;
    input.extents = extents;
    input.strides = dense(extents);
    input.origin = 2;
    int64_t elements = 1;
    for (auto e : extents) {
        type.axes.push_back({e, ""});
        elements *= std::max<int64_t>(e, 1);
    }
    if (scalar == ScalarType::BOOL) {
        byte = 1;
    }
    input.bytes.assign((static_cast<size_t>(elements) + 4) * size_of(scalar), byte);
    inputs.push_back(std::move(input));
    return module.add_argument(module.kernel()->body, module.intern(type));
}

const Owned *Program::writable_part() {
    std::vector<const Owned *> parts;
    for (const auto &part : owned) {
        if (!views[part.view].read_only) {
            parts.push_back(&part);
        }
    }
    return pure || parts.empty() ? nullptr : random.pick(parts);
}

Value *Program::handle_of(size_t view, bool writes) {
    auto twin = views[view].twin;
    bool other = twin >= 0 && random.chance(50) &&
                 !(writes && views[static_cast<size_t>(twin)].read_only);
    return views[other ? static_cast<size_t>(twin) : view].value;
}

void Program::make_alias() {
    std::vector<size_t> writable;
    for (const auto &part : owned) {
        if (inputs[views[part.view].input].alias < 0) {
            writable.push_back(part.view);
        }
    }
    auto target = random.pick(writable);
    auto view = views[target];
    auto input = inputs[view.input];
    auto type = *view.value->type();
    input.alias = static_cast<int>(view.input);
    input.bytes.clear();
    auto how = random.below(3);
    if (how == 0) {
        view.twin = static_cast<int>(target);
        views[target].twin = static_cast<int>(views.size());
    } else if (how == 1 && view.extents[0] > 0) {
        // From the second row on.
        input.origin += input.strides[0];
        type.axes[0] = {--view.extents[0], ""};
    } else {
        if (type.strides.empty()) {
            type.strides = input.strides;
        }
        std::reverse(view.extents.begin(), view.extents.end());
        std::reverse(type.axes.begin(), type.axes.end());
        std::reverse(type.strides.begin(), type.strides.end());
        std::reverse(input.strides.begin(), input.strides.end());
    }
    if (type.strides.empty()) {
        type.strides = input.strides;// those of what it shows a part of
    }
    input.extents = view.extents;
    view.read_only = type.read_only = random.chance(40);
    own(view, true);
    view.input = inputs.size();
    view.value = module.add_argument(builder.region(), module.intern(type));
    views.push_back(view);
    inputs.push_back(std::move(input));
}

bool Program::make_extent() {
    const auto &view = random.pick(views);
    auto axis = random.below(view.extents.size());
    auto extent = static_cast<double>(view.extents[axis]);
    add(builder.value(Opcode::EXTENT, {view.value}, module.scalar(ScalarType::INT64),
                      ir::IndexPayload{static_cast<int64_t>(axis)}),
        {extent, extent});
    return true;
}

/// What a load gives where it leaves its view: a fallback, or zero. `f` then holds that too.
void Program::read_outside(bool fallback, const ViewFact &view, std::vector<Value *> &operands,
                           ir::LoadPayload &payload, Fact &f) {
    if (!fallback) {
        f.low = std::min(f.low, 0.0);
        f.high = std::max(f.high, 0.0);
        return;
    }
    operands.push_back(scalar_of(view.value->scalar()));
    payload.has_fallback = true;
    auto g = fact(operands.back());
    f = {std::min(f.low, g.low), std::max(f.high, g.high), f.pinned && g.pinned};
}

bool Program::make_load() {
    // A view that nobody writes, or the part of another that is this instance's own.
    std::vector<const ViewFact *> readable;
    std::vector<const Owned *> parts;
    for (const auto &v : views) {
        if (v.read_only && inputs[v.input].alias < 0) {
            readable.push_back(&v);
            parts.push_back(nullptr);
        }
    }
    for (const auto &o : owned) {
        readable.push_back(&views[o.view]);
        parts.push_back(&o);
    }
    if (readable.empty()) {
        return false;
    }
    auto which = random.below(readable.size());
    const auto &view = *readable[which];
    const auto *part = parts[which];
    auto rank = view.extents.size();
    auto box = some_dims(rank, rank);
    bool element = box.size() < rank || random.chance(12);
    auto *handle = part ? handle_of(part->view, false) : view.value;
    std::vector<Value *> operands = {handle};
    bool inside = true, wild = random.chance(70);
    for (size_t i = 0; i < rank; ++i) {
        auto length = element ? 1 : box[i].extent;
        if (part && !part->axes[i].shared) {
            operands.push_back(own_coordinate(part->axes[i], length));
            if (!operands.back()) {
                return false;
            }
            inside = false;
            continue;
        }
        auto *safe = wild ? nullptr : safe_coordinate(view.extents[i], length);
        inside = inside && safe;
        operands.push_back(safe ? safe : coordinate(view.extents[i]));
    }
    ir::LoadPayload payload;
    auto f = view.fact;
    if (inside && random.chance(60)) {
        payload.bounds = random.chance(50) ? Bounds::ASSUME : Bounds::PREDICATE;
    } else {
        read_outside(random.chance(30), view, operands, payload, f);
    }
    const auto *type = module.tile(view.value->scalar(),
                                   element ? std::vector<ir::DimExtent>{} : box);
    if (!affordable(type->element_count()) || type->element_count() > most_elements) {
        return false;
    }
    add(builder.value(Opcode::LOAD, operands, type, payload), f);
    return true;
}

Value *Program::own_coordinate(const Owned::Axis &axis, int64_t length) {
    if (length > axis.length) {
        return nullptr;
    }
    auto offset = random.between(0, axis.length - length);
    if (!axis.origin) {
        return index_constant(offset);
    }
    return offset == 0 ? axis.origin
                       : arithmetic(Opcode::ADD, {axis.origin, index_constant(offset)});
}

bool Program::make_store() {
    const auto *mine = writable_part();
    if (!mine) {
        return false;
    }
    const auto part = *mine;
    const auto &view = views[part.view];
    auto rank = view.extents.size();
    auto scalar = view.value->scalar();
    auto *value = find(
        [&](const Value *v) { return v->scalar() == scalar && v->type()->dims.size() <= rank; });
    if (!value) {
        value = random.chance(70) ? scalar_of(scalar) : nullptr;
    }
    if (!value) {
        return false;
    }
    // The value's dimensions and others along which it broadcasts.
    ir::StorePayload payload;
    auto box = value->type()->dims;
    for (const auto &d : some_dims(3, 6)) {
        bool there = std::any_of(box.begin(), box.end(),
                                 [&](const auto &k) { return k.dim == d.dim; });
        if (!there && box.size() < rank) {
            box.push_back(d);
        }
    }
    random.shuffle(box);
    if (value->type()->dims.empty() && (box.size() < rank || random.chance(40))) {
        box.clear();
    }
    if (!box.empty() && box.size() != rank) {
        return false;
    }
    int64_t elements = 1;
    std::vector<Value *> operands = {handle_of(part.view, true), value};
    bool inside = true;
    for (size_t i = 0; i < rank; ++i) {
        auto length = box.empty() ? 1 : box[i].extent;
        elements *= length;
        const auto &axis = part.axes[i];
        auto *safe = axis.shared && random.chance(40) ? safe_coordinate(view.extents[i], length)
                                                      : nullptr;
        inside = inside && safe;
        operands.push_back(safe          ? safe
                           : axis.shared ? coordinate(view.extents[i])
                                         : own_coordinate(axis, length));
        if (!operands.back()) {
            return false;
        }
    }
    if (!affordable(elements)) {
        return false;
    }
    payload.box = box;
    payload.bounds = !inside             ? Bounds::ZERO
                     : random.chance(50) ? Bounds::ASSUME
                                         : Bounds::PREDICATE;
    builder.emit(Opcode::STORE, operands, {}, payload);
    work += trips * elements;
    return true;
}

}// namespace luisa::tile::fuzz
