// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/payload.h"

#include <array>
#include <string_view>

// The text form of payloads: one `describe` per struct names its fields once, for printer and parser.
// A visitor gets `field(name, value, default)`; a field that has its default is not printed.

namespace luisa::tile::ir {

template<class E> struct EnumNames;
#define LUISA_TILE_ENUM_NAMES(ENUM, ...)                                                           \
    template<> struct EnumNames<ENUM> {                                                            \
        static constexpr std::string_view names[] = {__VA_ARGS__};                                 \
    };
LUISA_TILE_ENUM_NAMES(Bounds, "zero", "assume", "predicate")
LUISA_TILE_ENUM_NAMES(ReductionPolicy, "unordered_tree", "ordered_tree", "fold_left", "fold_right",
                      "balanced_tree")
LUISA_TILE_ENUM_NAMES(Reducer, "add", "multiply", "minimum", "maximum", "fmin", "fmax",
                      "logical_and", "logical_or", "bit_and", "bit_or", "bit_xor", "argmin",
                      "argmax")
LUISA_TILE_ENUM_NAMES(NanPolicy, "propagate", "ignore")
LUISA_TILE_ENUM_NAMES(MathTier, "strict", "exact", "fast")
LUISA_TILE_ENUM_NAMES(ExecLevel, "infer", "cluster", "block", "subgroup", "thread", "core",
                      "vector")
LUISA_TILE_ENUM_NAMES(AtomicOp, "add", "minimum", "maximum", "exchange", "compare_exchange", "and",
                      "or", "xor")
LUISA_TILE_ENUM_NAMES(AncestorUpdate, "collective", "insert")
LUISA_TILE_ENUM_NAMES(Provenance, "none", "builtin", "derived", "declared")
LUISA_TILE_ENUM_NAMES(MemoryClass, "auto", "private", "shared", "cluster", "global", "tensor")
LUISA_TILE_ENUM_NAMES(GroupFactors, "bf16", "s8s8", "s8u8", "u8s8", "u8u8")
LUISA_TILE_ENUM_NAMES(MatrixAction, "configure", "release", "zero", "load", "store", "multiply")
LUISA_TILE_ENUM_NAMES(ParticipantKind, "thread", "block")
LUISA_TILE_ENUM_NAMES(ExchangeMode, "xor", "up", "down", "index")
LUISA_TILE_ENUM_NAMES(ScalarType, "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
                      "f16", "bf16", "f32", "f64", "e4m3fn", "e5m2")
#undef LUISA_TILE_ENUM_NAMES

/// Calls `v(name, field, default)` for each field of a payload, in order.
template<class V, class P> void describe(V &&, P &) {}
template<class V> void describe(V &&v, NestPayload &p) {
    v("dims", p.dims, std::vector<Dim>{});
    v("range", p.is_range, false);
    v("exec", p.exec, ExecLevel::INFER);
    v("layout", p.layout, std::string{});
    v("in_flight", p.pipeline.max_in_flight, 0);
    v("interval", p.pipeline.initiation_interval, 0);
    v("policy", p.policy, ReductionPolicy::UNORDERED_TREE);
    v("updates", p.updates, std::vector<AncestorUpdate>{});
    v("contract", p.contract, std::vector<int32_t>{});
    v("associative", p.laws.associative, Provenance::NONE);
    v("identity", p.laws.identity, Provenance::NONE);
    v("update", p.laws.update, Provenance::NONE);
    v("commutative", p.laws.commutative, Provenance::NONE);
}
template<class V> void describe(V &&v, NamePayload &p) { v("name", p.name, std::string{}); }
template<class V> void describe(V &&v, MathPayload &p) { v("tier", p.tier, MathTier::STRICT); }
template<class V> void describe(V &&v, QuantizePayload &p) { v("saturate", p.saturate, true); }
template<class V> void describe(V &&v, AccessPayload &p) {
    v("dims", p.dims, std::vector<Dim>{});
    v("fallback", p.has_fallback, false);
    v("box", p.box, std::vector<DimExtent>{});
}
template<class V> void describe(V &&v, ReducePayload &p) {
    // The reducer always shows: it is what the operation does.
    v("op", p.reducer, static_cast<Reducer>(255));
    v("dims", p.dims, std::vector<Dim>{});
    v("policy", p.policy, ReductionPolicy::UNORDERED_TREE);
    v("nan", p.nan, NanPolicy::PROPAGATE);
    v("mask", p.has_mask, false);
}
template<class V> void describe(V &&v, ScanPayload &p) {
    v("op", p.reducer, static_cast<Reducer>(255));
    v("dim", p.dim, Dim{UINT32_MAX});
    v("policy", p.policy, ReductionPolicy::ORDERED_TREE);
    v("exclusive", p.exclusive, false);
    v("reverse", p.reverse, false);
    v("seed", p.has_seed, false);
    v("mask", p.has_mask, false);
}
template<class V> void describe(V &&v, SortedPayload &p) {
    v("word", p.word, 0);
    v("order", p.order, std::vector<Dim>{});
    v("to", p.to, std::vector<Dim>{});
    v("first", p.first, int64_t{0});
}
template<class V> void describe(V &&v, MmaPayload &p) {
    v("reassociate", p.policy.allow_reassociation, true);
    v("tf32", p.policy.allow_tf32, false);
    v("fast_accumulation", p.policy.fast_accumulation, false);
}
template<class V> void describe(V &&v, IndexPayload &p) { v("index", p.index, int64_t{-1}); }
template<class V> void describe(V &&v, LoadPayload &p) {
    v("bounds", p.bounds, Bounds::ZERO);
    v("fallback", p.has_fallback, false);
    v("mapped", p.mapped, false);
}
template<class V> void describe(V &&v, StorePayload &p) {
    v("bounds", p.bounds, Bounds::ZERO);
    v("box", p.box, std::vector<DimExtent>{});
    v("mapped", p.mapped, false);
}
template<class V> void describe(V &&v, AllocPayload &p) {
    v("in", p.kind, MemoryClass::AUTO);
    v("layout", p.layout, std::string{});
}
template<class V> void describe(V &&v, AtomicPayload &p) {
    v("op", p.op, static_cast<AtomicOp>(255));
}
template<class V> void describe(V &&v, AssertPayload &p) {
    v("message", p.message, std::string{});
    v("box", p.box, std::vector<DimExtent>{});
}
template<class V> void describe(V &&v, PrintPayload &p) { v("format", p.format, std::string{}); }
template<class V> void describe(V &&v, ReportPayload &p) {
    v("site", p.site, int64_t{-1});
    v("checks", p.checks, false);
    v("once", p.once, false);
}
template<class V> void describe(V &&v, ForPayload &p) {
    v("at_least_once", p.at_least_once, false);
}
template<class V> void describe(V &&v, ShufflePayload &p) {
    v("lanes", p.lanes, std::vector<int32_t>{});
}
template<class V> void describe(V &&v, LaneReducePayload &p) {
    v("op", p.reducer, static_cast<Reducer>(255));
}
template<class V> void describe(V &&v, TablePayload &p) {
    v("entries", p.entries, std::vector<uint32_t>{});
}
template<class V> void describe(V &&v, AddressPayload &p) {
    v("scale", p.scale, int64_t{1});
    v("offset", p.offset, int64_t{0});
}
template<class V> void describe(V &&v, MemoryPayload &p) {
    v("align", p.align, uint32_t{1});
    v("masked", p.masked, false);
    v("streaming", p.streaming, false);
}
template<class V> void describe(V &&v, PrefetchPayload &p) {
    v("level", p.level, uint32_t{2});
    v("exclusive", p.exclusive, false);
}
template<class V> void describe(V &&v, DotPayload &p) {
    v("factors", p.factors, static_cast<GroupFactors>(255));
}
template<class V> void describe(V &&v, MatrixPayload &p) {
    v("action", p.action, static_cast<MatrixAction>(255));
    v("to", p.to, int32_t{0});
    v("a", p.a, int32_t{0});
    v("b", p.b, int32_t{0});
    v("factors", p.factors, GroupFactors::BF16);
}
template<class V> void describe(V &&v, ParticipantPayload &p) {
    v("kind", p.kind, static_cast<ParticipantKind>(255));
}
template<class V> void describe(V &&v, SharedPayload &p) { v("offset", p.offset, int64_t{-1}); }
template<class V> void describe(V &&v, ExchangePayload &p) {
    v("mode", p.mode, static_cast<ExchangeMode>(255));
}
template<class V> void describe(V &&v, CopyPayload &p) { v("bytes", p.bytes, uint32_t{0}); }
template<class V> void describe(V &&v, LoadMatrixPayload &p) {
    v("count", p.count, uint32_t{0});
    v("transposed", p.transposed, false);
}
template<class V> void describe(V &&v, MultiplyMatrixPayload &p) {
    v("m", p.m, 0);
    v("n", p.n, 0);
    v("k", p.k, 0);
}
template<class V> void describe(V &&v, PanelDescriptorPayload &p) {
    v("leading", p.leading, int64_t{0});
    v("stride", p.stride, int64_t{0});
}
template<class V> void describe(V &&v, MultiplyPanelsPayload &p) {
    v("a", p.a, static_cast<ScalarType>(255));
    v("b", p.b, static_cast<ScalarType>(255));
    v("n", p.n, 0);
    v("k", p.k, 0);
    v("a_across", p.a_across, false);
    v("b_across", p.b_across, false);
}

}// namespace luisa::tile::ir
