// SPDX-License-Identifier: Apache-2.0
#include "interpreter/domain.h"

#include "interpreter/context.h"

#include <algorithm>
#include <limits>

namespace luisa::tile::interpreter {

namespace {

[[noreturn]] void too_many(const ir::Operation *op) {
    throw ResourceError{std::string{op->name()} + ": 2^63 iterations or more", op->loc};
}

// Iterations of `for (i = begin; step > 0 ? i < end : i > end; i += step)`.
int64_t range_count(int64_t begin, int64_t end, int64_t step, const ir::Operation *op) {
    auto up = step > 0;
    if (up ? begin >= end : begin <= end) {
        return 0;
    }
    // The distance fits in 64 bits unsigned.
    auto distance = up ? static_cast<uint64_t>(end) - static_cast<uint64_t>(begin)
                       : static_cast<uint64_t>(begin) - static_cast<uint64_t>(end);
    auto stride = up ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    auto count = (distance - 1) / stride + 1;
    if (count > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        too_many(op);
    }
    return static_cast<int64_t>(count);
}

}// namespace

Domain domain_of(const Context &context, const Step &step) {
    const auto &payload = step.op->get<ir::NestPayload>();
    Domain domain;
    domain.is_range = payload.is_range;
    if (payload.is_range) {
        domain.begin = context.integer(step, 0, "the begin of a range");
        domain.step = context.integer(step, 2, "the step of a range");
        if (domain.step == 0) {
            throw ValueError{std::string{step.op->name()} +
                                 ": the step of the range is 0; give a positive or negative one",
                             step.op->loc};
        }
        domain.count = range_count(domain.begin, context.integer(step, 1, "the end of a range"),
                                   domain.step, step.op);
        domain.extents = {domain.count};
        domain.index_count = 1;
        domain.operand_count = 3;
        return domain;
    }
    domain.index_count = domain.operand_count = payload.dims.size();
    domain.count = 1;
    auto overflow = false;
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        auto extent = std::max<int64_t>(0, context.integer(step, i, "an extent"));
        domain.extents.push_back(extent);
        overflow |= __builtin_mul_overflow(domain.count, extent, &domain.count);
    }
    if (std::find(domain.extents.begin(), domain.extents.end(), 0) != domain.extents.end()) {
        domain.count = 0;
    } else if (overflow) {
        too_many(step.op);
    }
    return domain;
}

Numbers Domain::indices(int64_t n) const {
    if (is_range) {
        // The sum is in range; the product alone need not be.
        return {static_cast<int64_t>(static_cast<uint64_t>(begin) +
                                     static_cast<uint64_t>(n) * static_cast<uint64_t>(step))};
    }
    return coordinates_of(n, extents);
}

void bind_indices(Context &context, const Block &body, const Domain &domain, int64_t n) {
    auto indices = domain.indices(n);
    for (size_t i = 0; i < indices.size(); ++i) {
        context.output(body.arguments[i], 1).bits[0] = static_cast<uint64_t>(indices[i]);
    }
}

}// namespace luisa::tile::interpreter
