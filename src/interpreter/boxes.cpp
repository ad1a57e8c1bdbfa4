// SPDX-License-Identifier: Apache-2.0
#include "interpreter/context.h"

#include "types/arith.h"
#include "types/convert.h"

#include <algorithm>

// Parts that are boxes of a tile, and the contents of memory before anything is stored.

namespace luisa::tile::interpreter {

namespace {

/// How the coordinates of a part lead into the tile it belongs to.
struct BoxWalk {
    Numbers origins;///< one an axis of the part; 0 along those that no coordinate addresses
    Numbers strides, extents;

    BoxWalk(const Context &context, const Step &step, size_t first) {
        const auto &type = *step.op->operand(0)->type();
        const auto &access = step.op->get<ir::AccessPayload>();
        strides = dense_strides(extents_of(type.dims));
        extents = extents_of(type.dims);
        origins.assign(extents.size(), 0);
        for (size_t i = 0; i < access.dims.size(); ++i) {
            origins[static_cast<size_t>(type.find(access.dims[i]))] = context.integer(
                step, first + i, "a coordinate");
        }
    }
    /// The element of the tile at `at` of the part, or -1 outside.
    [[nodiscard]] int64_t offset(const Numbers &at) const {
        int64_t sum = 0;
        for (size_t i = 0; i < at.size(); ++i) {
            int64_t c = 0;
            if (__builtin_add_overflow(origins[i], at[i], &c) || c < 0 || c >= extents[i]) {
                return -1;
            }
            sum += c * strides[i];
        }
        return sum;
    }
};

}// namespace

void extract_box(Context &context, const Step &step) {
    const auto &x = context.tile(step.operands[0]);
    const auto &access = step.op->get<ir::AccessPayload>();
    auto scalar = step.op->operand(0)->scalar();
    BoxWalk box{context, step, 1};
    const auto *outside = access.has_fallback
                              ? &spread(context, step, step.operands.size() - 1, context.scratch[0])
                              : nullptr;
    auto &out = context.output(step.results[0], step.op->result()->type()->element_count());
    int64_t i = 0;
    walk<0>(step.extents, {}, [&](const Numbers &at, const auto &) {
        auto from = box.offset(at);
        auto to = static_cast<size_t>(i);
        if (from >= 0) {
            out.bits[to] = x.bits[static_cast<size_t>(from)];
            out.set_undefined(i, x.undefined_at(from));
        } else {
            out.bits[to] = outside ? outside->bits[to] : arith::normalize(scalar, 0);
            out.set_undefined(i, outside ? outside->undefined_at(i) : nullptr);
        }
        ++i;
    });
}

void insert_box(Context &context, const Step &step, Tile &x, Numbers *written) {
    BoxWalk box{context, step, 2};
    const auto &value = context.tile(step.operands[1]);
    int64_t i = 0;
    walk<0>(step.extents, {}, [&](const Numbers &at, const auto &) {
        auto to = box.offset(at);
        if (to >= 0) {
            x.bits[static_cast<size_t>(to)] = value.bits[static_cast<size_t>(i)];
            x.set_undefined(to, value.undefined_at(i));
            if (written) {
                written->push_back(to);
            }
        }
        ++i;
    });
}

void run_memory_alloc(Context &context, const Step &step) {
    auto count = step.op->result()->type()->element_count();
    auto &out = context.output(step.results[0], count);
    std::fill(out.bits.begin(), out.bits.end(), 0);
    out.undefined.assign(static_cast<size_t>(count), step.op);
}

}// namespace luisa::tile::interpreter
