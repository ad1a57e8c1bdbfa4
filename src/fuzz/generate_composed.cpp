// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/contract_scan.h>
#include <luisa/tile/exchange.h>
#include <luisa/tile/packed.h>
#include <luisa/tile/scatter.h>
#include <luisa/tile/sort.h>

#include "frontend/capture.h"
#include "fuzz/build.h"
#include "ir/check_operations.h"

#include <algorithm>
#include <bit>

// What the language composes of operations: orders, scans by segment and by contract, histograms, scatters,
// exchanges, packed formats. The front end writes them into the program as it would in a kernel.

namespace luisa::tile::fuzz {

namespace {

/// A capture that appends to the program's region while it lives.
class Writing {
public:
    explicit Writing(Program &p)
        : _capture{KernelOptions{}, SourceLoc{}}, _own{_capture.module}, _before{
                                                                             core::exchange_current(
                                                                                 &_capture)} {
        _capture.module = std::shared_ptr<ir::Module>{&p.module, [](ir::Module *) {}};
        _capture.builder = ir::Builder{p.module, p.builder.region()};
        _capture.regions.front().region = p.builder.region();
        // Stands in no region: what it holds is not part of the program.
        _capture.placeholders =
            p.module.create(Opcode::MAP, {}, {}, ir::None{}, SourceLoc{}, 1)->body();
    }
    ~Writing() { core::exchange_current(_before); }
    Writing(const Writing &) = delete;
    Writing &operator=(const Writing &) = delete;
    Value *resolve(Value *v) { return _capture.resolve(v); }

private:
    core::Capture _capture;
    std::shared_ptr<ir::Module> _own;
    core::Capture *_before;
};

Fact unknown(const Value *v) {
    Fact f;
    f.pinned = !is_float(v->scalar());
    return f;
}

bool reorders(const Value *v) {
    return !v->type()->dims.empty() && v->scalar() != ScalarType::BOOL;
}

core::SortRequest any_request(Random &random, const Value *x, Dim axis) {
    core::SortRequest request{axis, random.chance(50) ? ascending : descending, {}};
    request.options.nan = random.chance(50) ? NanPlace::LAST : NanPlace::FIRST;
    request.options.indices = random.chance(60);
    auto extent = x->type()->dims[static_cast<size_t>(x->type()->find(axis))].extent;
    if (x->scalar() == ScalarType::FLOAT32 && extent > 0 && random.chance(40) &&
        std::has_single_bit(static_cast<uint64_t>(extent))) {
        request.options.algorithm = SortAlgorithm::PACKED_FP32;
        request.options.indices = true;
    }
    return request;
}

/// x ↦ a x + b modulo 2^32.
struct Affine {
    Tile<int32_t> a, b;
    LUISA_TILE_STATE(Affine, a, b)
};
struct Composition {
    static constexpr bool is_associative = true;
    Affine identity() const {
        return {Tile<int32_t>{Scalar<int32_t>(1)}, Tile<int32_t>{Scalar<int32_t>(0)}};
    }
    Affine merge(const Affine &l, const Affine &r) const { return {l.a * r.a, l.b * r.a + r.b}; }
};

template<class T> Value *scan_segments(Program &p, Value *x, Value *heads, Dim axis, Value *mask) {
    auto loc = SourceLoc::current();
    SegmentedScanOptions options;
    options.exclusive = p.random.chance(40);
    options.reverse = p.random.chance(40);
    if (mask) {
        options.mask = MaskArg{Tile<bool>{mask, loc}};
    }
    auto op = p.random.pick({add, minimum, maximum});
    return segmented_scan(Tile<T>{x, loc}, Tile<bool>{heads, loc}, axis, op, options).value(loc);
}

}// namespace

Value *Program::with_known_dims(Value *x) {
    auto list = x->type()->dims;
    for (auto &d : list) {
        bool known = std::any_of(dims.begin(), dims.end(), [&](const auto &k) {
            return k.dim == d.dim && (k.extent == d.extent || d.extent == 1);
        });
        if (!known) {
            auto [found, added] = lengths.try_emplace(d.extent);
            if (added) {
                found->second = dim(("n" + std::to_string(d.extent)).c_str());
            }
            d.dim = found->second;
        }
    }
    for (size_t i = 0; i < list.size(); ++i) {
        for (size_t j = 0; j < i; ++j) {
            if (list[i].dim == list[j].dim) {
                return nullptr;
            }
        }
    }
    return list == x->type()->dims
               ? x
               : builder.value(Opcode::RETYPE, {x}, module.tile(x->scalar(), list));
}

/// Joins the pool, unless two of its dimensions would be one.
bool Program::add_composed(Value *v, int64_t cost) {
    work += trips * cost;
    if (auto *x = v ? with_known_dims(v) : nullptr) {
        add(x, unknown(x), 1);
    }
    return true;
}

bool Program::make_ordering() {
    auto *x = find(reorders);
    if (!x) {
        return false;
    }
    auto along = random.pick(x->type()->dims);
    auto elements = x->type()->element_count();
    auto steps = std::bit_width(static_cast<uint64_t>(along.extent));
    auto cost = elements * steps * steps * 4;
    auto *other = find([&](const Value *v) { return v != x && v->type() == x->type(); });
    auto *count = random.chance(40) ? coordinate(along.extent) : nullptr;
    if (elements > 300 || !affordable(cost) || trips > 20) {
        return false;
    }
    auto loc = SourceLoc{};
    core::RankedValues ranked{};
    {
        Writing writing{*this};
        auto request = any_request(random, x, along.dim);
        switch (random.below(3)) {
            case 0: ranked = core::sort(x, request, loc); break;
            case 1:
                ranked = core::topk(x, random.between(0, along.extent), count, request, loc);
                break;
            default:
                request.options.algorithm = SortAlgorithm::NETWORK;
                auto a = core::sort(x, request, loc),
                     b = core::sort(other ? other : x, request, loc);
                ranked = core::merge_sorted(a, b, request, loc);
        }
        ranked.values = ranked.values ? writing.resolve(ranked.values) : nullptr;
        ranked.indices = ranked.indices ? writing.resolve(ranked.indices) : nullptr;
    }
    features.push_back(Feature::ORDERING);
    add_composed(ranked.values, cost);
    return add_composed(ranked.indices, 1);
}

bool Program::make_segments() {
    static constexpr ScalarType types[] = {ScalarType::FLOAT32, ScalarType::INT32,
                                           ScalarType::UINT16, ScalarType::FLOAT16};
    auto type = random.pick(types);
    auto *x = tile_of(type);
    if (x->type()->dims.empty() || !affordable(x->type()->element_count() * 12) || trips > 50) {
        return false;
    }
    auto along = random.pick(x->type()->dims).dim;
    auto *heads = part_over(ScalarType::BOOL, x->type()->dims);
    auto *mask = random.chance(40) ? part_over(ScalarType::BOOL, x->type()->dims) : nullptr;
    Value *result = nullptr;
    {
        Writing writing{*this};
        if (type == ScalarType::INT32 && random.chance(50)) {
            auto loc = SourceLoc::current();
            ContractScanOptions<Affine> options;
            options.exclusive = random.chance(40);
            options.reverse = random.chance(40);
            options.policy = random.pick(
                {ReductionPolicy::ORDERED_TREE, ReductionPolicy::FOLD_LEFT});
            if (mask) {
                options.mask = MaskArg{Tile<bool>{mask, loc}};
            }
            Affine states{Tile<int32_t>{x, loc}, Tile<int32_t>{x, loc}};
            result = scan(states, along, Composition{}, options).b.value(loc);
        } else {
            result = type == ScalarType::FLOAT32
                         ? scan_segments<float>(*this, x, heads, along, mask)
                     : type == ScalarType::INT32
                         ? scan_segments<int32_t>(*this, x, heads, along, mask)
                     : type == ScalarType::UINT16
                         ? scan_segments<uint16_t>(*this, x, heads, along, mask)
                         : scan_segments<half>(*this, x, heads, along, mask);
        }
        result = writing.resolve(result);
    }
    features.push_back(Feature::SEGMENTS);
    return add_composed(result, x->type()->element_count() * 12);
}

bool Program::make_histogram() {
    auto *x = find(reorders);
    if (!x || !affordable(x->type()->element_count() * 16) || trips > 30) {
        return false;
    }
    auto along = random.pick(x->type()->dims);
    auto bins = any_dim();
    if (x->type()->find(bins.dim) >= 0) {
        return false;
    }
    auto *index = part_over(ScalarType::INT64, x->type()->dims);
    auto *mask = random.chance(40) ? part_over(ScalarType::BOOL, index->type()->dims) : nullptr;
    Reducer reducers[] = {Reducer::ADD, Reducer::MINIMUM, Reducer::MAXIMUM};
    auto reducer = random.pick(reducers);
    bool sums = ir::folds(reducer, x->scalar());
    Value *result = nullptr;
    auto loc = SourceLoc{};
    auto how = random.below(3);
    if (how != 0 && (!sums || index->type()->find(along.dim) < 0)) {
        return false;
    }
    {
        Writing writing{*this};
        if (how == 0) {
            result = core::histogram(index, axis(bins.dim, bins.extent, loc), mask, loc);
        } else if (how == 1) {
            result = core::segmented_reduce(x, along.dim, index, axis(bins.dim, bins.extent, loc),
                                            reducer, loc);
        } else {
            auto rule = random.chance(50) ? last : ScatterRule{ReducerFunction{reducer, ""}};
            result = core::scatter(x, along.dim, index, x, rule, loc);
        }
        result = writing.resolve(result);
    }
    features.push_back(Feature::HISTOGRAM);
    return add_composed(result, x->type()->element_count() * 16);
}

bool Program::make_exchange() {
    auto *x = find([](const Value *v) { return !v->type()->dims.empty(); });
    if (!x || !affordable(x->type()->element_count() * 4)) {
        return false;
    }
    auto along = random.pick(x->type()->dims).dim;
    auto loc = SourceLoc{};
    Value *result = nullptr;
    {
        Writing writing{*this};
        auto delta = random.between(-40, 40);
        switch (random.below(4)) {
            case 0: result = core::shift(x, along, delta, nullptr, loc); break;
            case 1: result = core::rotate(x, along, delta, loc); break;
            case 2: result = core::butterfly(x, along, std::abs(delta), loc); break;
            default: result = core::flip(x, along, loc);
        }
        result = writing.resolve(result);
    }
    return add_composed(result, x->type()->element_count() * 4);
}

bool Program::make_packed() {
    auto *code = tile_of(ScalarType::UINT8);
    auto *carried = tile_of(random.pick({ScalarType::INT8, ScalarType::FLOAT8_E4M3FN}));
    auto loc = SourceLoc::current();
    if (!affordable(code->type()->element_count() * 24 + carried->type()->element_count() * 24) ||
        !fact(carried).pinned) {
        return false;
    }
    Value *result = nullptr;
    {
        Writing writing{*this};
        Tile<uint8_t> low{
            core::elementwise("and", {code, core::constant_bits(ScalarType::UINT8, 15, loc)}, loc),
            loc};
        switch (random.below(4)) {
            case 0: result = packing::decode<int4>(low, loc).value(loc); break;
            case 1: result = packing::decode<float4_e2m1>(low, loc).value(loc); break;
            case 2: result = packing::decode<uint4>(low, loc).value(loc); break;
            default:
                result = carried->scalar() == ScalarType::INT8
                             ? packing::encode<int4>(Tile<int8_t>{carried, loc}, loc).value(loc)
                             : packing::encode<float4_e2m1>(Tile<float8_e4m3fn>{carried, loc}, loc)
                                   .value(loc);
        }
        result = writing.resolve(result);
    }
    features.push_back(Feature::PACKED);
    return add_composed(result, code->type()->element_count() * 24);
}

bool Program::make_composed() {
    switch (random.below(5)) {
        case 0: return make_ordering();
        case 1: return make_segments();
        case 2: return make_histogram();
        case 3: return make_exchange();
        default: return make_packed();
    }
}

}// namespace luisa::tile::fuzz
