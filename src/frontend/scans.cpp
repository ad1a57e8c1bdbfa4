// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/scan.h>

#include "frontend/element_maps.h"
#include "ir/check_operations.h"

// scan: checks, and the state after the last element.

namespace luisa::tile::core {

using ir::DimExtent;
using ir::Opcode;

namespace {

void check_reducer(const Value *x, Reducer reducer, SourceLoc loc) {
    auto element = x->scalar();
    if (ir::folds(reducer, element)) {
        return;
    }
    bool arithmetic = reducer == Reducer::ADD || reducer == Reducer::MULTIPLY;
    fail(ErrorKind::TYPE,
         std::string{"scan: this reducer does not combine "} + to_string(element) +
             (arithmetic && is_float(element) ? "; cast<float> first, quantize after"
                                              : "; cast the tile first"),
         loc, made_at(x, "tile made here"));
}

/// The dimensions of x that are not scanned.
std::vector<DimExtent> kept_dims(const Value *x, Dim axis) {
    std::vector<DimExtent> kept;
    for (const auto &d : x->type()->dims) {
        if (!(d.dim == axis)) {
            kept.push_back(d);
        }
    }
    return kept;
}

void check_seed(const Value *x, const Value *seed, Dim axis, SourceLoc loc) {
    if (seed->scalar() != x->scalar()) {
        fail(ErrorKind::TYPE,
             std::string{"scan: the seed is "} + to_string(seed->scalar()) + ", the tile " +
                 to_string(x->scalar()) + "; cast the seed to the type of the tile",
             loc, made_at(seed, "seed made here"));
    }
    if (!spreads(seed, kept_dims(x, axis))) {
        fail(ErrorKind::SHAPE,
             "scan: a seed of shape " + shape_text(seed) + " does not fit a tile of shape " +
                 shape_text(x) + "; it has dimensions of the tile, but not the scanned one",
             loc, made_at(seed, "seed made here"));
    }
}

Value *emit_scan(Capture &c, Value *x, const ScanRequest &request, SourceLoc loc) {
    std::vector<Value *> operands{x};
    for (auto *operand : {request.seed, request.mask}) {
        if (operand) {
            operands.push_back(operand);
        }
    }
    ir::ScanPayload payload;
    payload.reducer = request.reducer;
    payload.dim = request.axis;
    payload.policy = request.policy;
    payload.exclusive = request.exclusive;
    payload.reverse = request.reverse;
    payload.has_seed = request.seed != nullptr;
    payload.has_mask = request.mask != nullptr;
    return emit_value(c, Opcode::SCAN, operands, x->type(), payload, loc);
}

}// namespace

Value *scan(Value *x, const ScanRequest &request, SourceLoc loc) {
    auto &c = current(loc);
    if (x->type()->find(request.axis) < 0) {
        fail(ErrorKind::INDEX,
             "scan: the tile of shape " + shape_text(x) +
                 " has no such axis; scan along one of its own",
             loc, made_at(x, "tile made here"));
    }
    check_reducer(x, request.reducer, loc);
    if (request.policy == ReductionPolicy::UNORDERED_TREE ||
        request.policy == ReductionPolicy::FOLD_RIGHT) {
        fail(ErrorKind::VALUE,
             std::string{"scan: "} +
                 (request.policy == ReductionPolicy::FOLD_RIGHT
                      ? "fold_right begins at the last element, which no prefix but one has; use "
                        "fold_left, with .reverse to go the other way"
                      : "unordered_tree permutes elements, which a prefix does not allow; use "
                        "ordered_tree, balanced_tree or fold_left"),
             loc);
    }
    if (request.seed) {
        check_seed(x, request.seed, request.axis, loc);
    }
    check_mask("scan", x, request.mask, loc);
    return emit_scan(c, x, request, loc);
}

Value *scan_final(Value *x, Value *values, const ScanRequest &request, SourceLoc loc) {
    auto &c = current(loc);
    auto kept = kept_dims(x, request.axis);
    auto extent = x->type()->dims[static_cast<size_t>(x->type()->find(request.axis))].extent;
    if (extent == 0) {
        return request.seed ? fit_dims(c, request.seed, kept, loc)
                            : reduce(request.reducer, x, {request.axis}, ReductionPolicy::FOLD_LEFT,
                                     nullptr, NanPolicy::PROPAGATE, loc);
    }
    if (request.exclusive) {
        auto inclusive = request;
        inclusive.exclusive = false;
        values = emit_scan(c, x, inclusive, loc);
    }
    auto *last = constant_bits(ScalarType::INT64,
                               request.reverse ? 0 : static_cast<uint64_t>(extent - 1), loc);
    return emit_value(c, Opcode::EXTRACT, {values, last}, c.module->tile(x->scalar(), kept),
                      ir::AccessPayload{{request.axis}, false}, loc);
}

}// namespace luisa::tile::core
