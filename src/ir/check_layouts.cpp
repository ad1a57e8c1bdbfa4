// SPDX-License-Identifier: Apache-2.0
#include "ir/check_operations.h"
#include "layout/proved.h"

#include <algorithm>

// Layouts of objects in memory and orders of instances: index maps in canonical text.

namespace luisa::tile::ir {

namespace {

/// A layout gives each point of a box a number of its own. `codomain`: the numbers, if it takes them all.
std::string problem_of(const std::string &text, const IndexPoint &extents,
                       const IndexSet *codomain = nullptr) {
    std::shared_ptr<const core::ProvedMap> layout;
    try {
        layout = core::proved_map(text);
    } catch (const Error &e) {
        return "has a layout that is none: " + e.message();
    }
    const auto &proof = layout->proof;
    if (!(layout->map.domain() == IndexSet{extents})) {
        return "has a layout of other elements: " + layout->map.domain().text();
    }
    if (layout->map.codomain().rank() != 1) {
        return "has a layout whose places are no numbers";
    }
    if (proof.totality.proof != Proof::PROVEN || proof.bounds.proof != Proof::PROVEN ||
        proof.injectivity.proof != Proof::PROVEN) {
        return "has a layout without a place for each element: " + proof.text();
    }
    if (codomain && !(layout->map.codomain() == *codomain)) {
        return "has a layout to other places than its instances";
    }
    return {};
}

}// namespace

std::string check_layout(const Operation &alloc) {
    const auto &text = alloc.get<AllocPayload>().layout;
    IndexPoint extents;
    for (const auto &d : alloc.result()->type()->dims) {
        extents.push_back(d.extent);
    }
    return text.empty() ? std::string{} : problem_of(text, extents);
}

std::string check_order(const Operation &nest) {
    const auto &payload = nest.get<NestPayload>();
    if (payload.layout.empty()) {
        return {};
    }
    IndexPoint extents;
    int64_t count = 1;
    for (size_t i = 0; i < payload.dims.size(); ++i) {
        const auto *extent = nest.operand(i)->definition();
        if (!extent || extent->opcode() != Opcode::CONSTANT) {
            return "has a layout of a domain that is known at launch only";
        }
        auto known = static_cast<int64_t>(extent->get<ConstantPayload>().bits);
        extents.push_back(std::max<int64_t>(known, 0));
        if (__builtin_mul_overflow(count, extents.back(), &count)) {
            return "has 2^63 instances or more";
        }
    }
    if (nest.opcode() != Opcode::PARALLEL || payload.is_range) {
        return "only parallel over a shape has a layout";
    }
    IndexSet instances{IndexPoint{count}};
    return problem_of(payload.layout, extents, &instances);
}

}// namespace luisa::tile::ir
