// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

#include "types/arith.h"
#include "types/convert.h"

#include <algorithm>

// Operations that make, move and pick elements.

namespace luisa::tile::interpreter {

namespace {

constexpr size_t extract_coordinates = 1;// position of the first coordinate operand
constexpr size_t insert_coordinates = 2;

/// Where coordinates of `access.dims` lead in a tile: an element offset, or outside.
struct Place {
    bool inside = true;
    int64_t offset = 0;
};

Place locate(Context &context, const Step &step, size_t first, bool reported) {
    const auto &type = *step.op->operand(0)->type();
    const auto &dims = step.op->get<ir::AccessPayload>().dims;
    auto strides = dense_strides(extents_of(type.dims));
    Place place;
    for (size_t i = 0; i < dims.size(); ++i) {
        auto axis = static_cast<size_t>(type.find(dims[i]));
        auto at = context.integer(step, first + i, "a coordinate");
        auto extent = type.dims[axis].extent;
        if (at < 0 || at >= extent) {
            place.inside = false;
            if (reported && context.options.validate) {
                throw BoundsError{std::string{step.op->name()} + ": coordinate " +
                                      std::to_string(at) + " is outside axis " +
                                      std::to_string(axis) + " of " + extents_text(type) +
                                      "; guard it with ite, or give a fallback",
                                  step.op->loc};
            }
        } else {
            place.offset += at * strides[axis];
        }
    }
    return place;
}

// The predicated load that a coordinate of an extract comes from, if any.
const ir::Operation *undefined_coordinate(Context &context, const Step &step) {
    auto count = step.op->get<ir::AccessPayload>().dims.size();
    for (size_t i = 0; i < count; ++i) {
        auto slot = step.operands[extract_coordinates + i];
        if (auto *load = context.tile(slot).undefined_at(0)) {
            return load;
        }
    }
    return nullptr;
}

}// namespace

void run_constant(Context &context, const Step &step) {
    const auto &type = *step.op->result()->type();
    auto &out = context.output(step.results[0], type.element_count());
    auto bits = arith::normalize(type.scalar, step.op->get<ir::ConstantPayload>().bits);
    std::fill(out.bits.begin(), out.bits.end(), bits);
}

void run_iota(Context &context, const Step &step) {
    const auto &type = *step.op->result()->type();
    auto &out = context.output(step.results[0], type.element_count());
    for (size_t i = 0; i < out.bits.size(); ++i) {
        out.bits[i] = arith::from_int64(type.scalar, static_cast<int64_t>(i));
    }
}

void run_broadcast(Context &context, const Step &step) {
    const auto &x = spread(context, step, 0, context.scratch[0]);
    auto &out = context.output(step.results[0], step.op->result()->type()->element_count());
    out = x;
}

void run_retype(Context &context, const Step &step) {
    context.slots[step.results[0]] = context.slots[step.operands[0]];
}

void run_extract(Context &context, const Step &step) {
    const auto &access = step.op->get<ir::AccessPayload>();
    if (!access.box.empty()) {
        return extract_box(context, step);
    }
    const auto &x = context.tile(step.operands[0]);
    auto fallback = step.operands.size() - 1;
    auto scalar = step.op->operand(0)->scalar();
    auto *undefined = undefined_coordinate(context, step);
    auto place = undefined ? Place{false, 0}
                           : locate(context, step, extract_coordinates, !access.has_fallback);
    const auto *outside = access.has_fallback ? &spread(context, step, fallback, context.scratch[0])
                                              : nullptr;
    auto &out = context.output(step.results[0], step.op->result()->type()->element_count());
    int64_t i = 0;
    walk<1>(step.extents, {&step.accesses[0].strides}, [&](const Numbers &, const auto &offset) {
        auto from = place.offset + offset[0];
        auto to = static_cast<size_t>(i);
        if (place.inside) {
            out.bits[to] = x.bits[static_cast<size_t>(from)];
            out.set_undefined(i, x.undefined_at(from));
        } else {
            out.bits[to] = outside ? outside->bits[to] : arith::normalize(scalar, 0);
            out.set_undefined(i, undefined ? undefined
                                 : outside ? outside->undefined_at(i)
                                           : nullptr);
        }
        ++i;
    });
}

void insert_into(Context &context, const Step &step, Tile &x, Numbers *written) {
    if (!step.op->get<ir::AccessPayload>().box.empty()) {
        return insert_box(context, step, x, written);
    }
    auto place = locate(context, step, insert_coordinates, true);
    if (!place.inside) {
        return;
    }
    const auto &value = context.tile(step.operands[1]);
    walk<2>(step.extents, {&step.accesses[0].strides, &step.accesses[1].strides},
            [&](const Numbers &, const auto &offset) {
                auto to = place.offset + offset[0];
                x.bits[static_cast<size_t>(to)] = value.bits[static_cast<size_t>(offset[1])];
                x.set_undefined(to, value.undefined_at(offset[1]));
                if (written) {
                    written->push_back(to);
                }
            });
}

void run_insert(Context &context, const Step &step) {
    auto &operand = context.slots[step.operands[0]];
    context.slots[step.results[0]].reset();
    auto tile = step.consumes ? std::move(operand) : operand;
    if (tile.use_count() > 1) {
        tile = std::make_shared<Tile>(*tile);
    }
    insert_into(context, step, *tile, nullptr);
    context.slots[step.results[0]] = std::move(tile);
}

void run_map(Context &context, const Step &step) {
    const auto &type = *step.op->result()->type();
    const auto &body = step.blocks[0];
    Tile out;
    out.bits.reserve(static_cast<size_t>(type.element_count()));
    std::vector<const ir::Operation *> undefined;
    auto any_undefined = false;
    walk<0>(step.extents, {}, [&](const Numbers &at, const auto &) {
        for (size_t i = 0; i < at.size(); ++i) {
            context.output(body.arguments[i], 1).bits[0] = static_cast<uint64_t>(at[i]);
        }
        run_block(context, body);
        const auto &element = context.tile(body.yields[0]);
        out.bits.push_back(element.bits[0]);
        undefined.push_back(element.undefined_at(0));
        any_undefined |= undefined.back() != nullptr;
    });
    if (any_undefined) {
        out.undefined = std::move(undefined);
    }
    context.slots[step.results[0]] = std::make_shared<Tile>(std::move(out));
}

}// namespace luisa::tile::interpreter
