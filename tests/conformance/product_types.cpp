// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

#include "emit/llvm/target.h"
#include "types/arith.h"

// mma over every triple of element types that the language has. The types are data here, so the program
// is TileIR text. Entries are small: every sum is exact in the accumulator, or wraps as it must.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

struct Triple {
    ScalarType a, b, c;
};
struct TypedSize {
    int64_t m, n, k;
    bool ordered = false;
};

std::string view(ScalarType t, int64_t rows, int64_t columns, bool constant) {
    return std::string{"view<"} + (constant ? "const " : "") + to_string(t) + ", " +
           std::to_string(rows) + " x " + std::to_string(columns) + ">";
}

/// Z += X · Y in tiles of 8 × 16 × 4 in a pipeline.
std::string text_of(Triple t, TypedSize s) {
    std::string acc = std::string{"tile<"} + to_string(t.c) + ", m:8 n:16>";
    auto define = [](const char *name, int64_t value) {
        return std::string{"  "} + name + " = constant " + std::to_string(value) + " : i64\n";
    };
    return "kernel @product(%0: " + view(t.a, s.m, s.k, true) +
           ", %1: " + view(t.b, s.k, s.n, true) + ", %2: " + view(t.c, s.m, s.n, false) + ") {\n" +
           define("%3", (s.m + 7) / 8) + define("%4", (s.n + 15) / 16) +
           "  parallel %3, %4 {dims = [#0 #1]} { %5: i64, %6: i64 ->\n" + define("%7", 0) +
           define("%8", s.k) + define("%9", 4) + define("%10", 8) + define("%11", 16) +
           "    %12 = mul %5, %10 : i64\n    %13 = mul %6, %11 : i64\n"
           "    %14 = load %2, %12, %13 : " +
           acc + "\n    %15 = pipeline %7, %8, %9, %14 {range = true} : " + acc +
           " { %16: i64, %17: " + acc + " ->\n      %18 = load %0, %12, %16 : tile<" +
           to_string(t.a) + ", m:8 k:4>\n      %19 = load %1, %16, %13 : tile<" + to_string(t.b) +
           ", k:4 n:16>\n      %20 = mma %18, %19, %17 " +
           (s.ordered ? "{reassociate = false} " : "") + ": " + acc +
           "\n      yield %20\n    }\n    store %2, %15, %12, %13 {box = [m:8 n:16]}\n    yield\n  "
           "}\n}\n";
}

/// -1, 0, 1 (2 for unsigned); `wide` integers reach both ends of the type.
std::vector<int64_t> entries(ScalarType t, size_t n, uint32_t seed, bool wide) {
    std::mt19937 engine{seed};
    std::vector<int64_t> list(n);
    for (auto &x : list) {
        auto r = static_cast<int64_t>(engine() % 3);
        x = is_float(t) || is_signed(t) ? r - 1 : r;
        if (wide && is_integer(t)) {
            auto top = size_of(t) == 8 ? (int64_t{1} << 40) : (int64_t{1} << info(t).bits) - 1;
            x = !is_signed(t) ? r * top / 2 : r == 0 ? -(top + 1) / 2 : r == 1 ? 1 : (top - 1) / 2;
        }
    }
    return list;
}

View encode(ScalarType t, std::vector<int64_t> extents, const std::vector<int64_t> &values) {
    View v;
    v.type = t;
    v.strides = dense_strides(extents);
    v.extents = std::move(extents);
    v.bytes.resize(values.size() * size_of(t) + 64, 0xa5);
    for (size_t i = 0; i < values.size(); ++i) {
        auto bits = info(t).computes ? arith::from_int64(t, values[i])
                                     : arith::quantize(t, static_cast<double>(values[i]), false);
        std::memcpy(v.bytes.data() + i * size_of(t), &bits, size_of(t));
    }
    return v;
}

void run_product(Triple t, TypedSize s, bool wide) {
    auto size = [](int64_t a, int64_t b) { return static_cast<size_t>(a * b); };
    auto a = entries(t.a, size(s.m, s.k), 1, wide), b = entries(t.b, size(s.k, s.n), 2, wide),
         c = entries(t.c, size(s.m, s.n), 3, false);
    auto out = run_both(
        parse_kernel(text_of(t, s)),
        {encode(t.a, {s.m, s.k}, a), encode(t.b, {s.k, s.n}, b), encode(t.c, {s.m, s.n}, c)});
    for (size_t i = 0; i < c.size(); ++i) {
        auto row = i / static_cast<size_t>(s.n), column = i % static_cast<size_t>(s.n);
        auto sum = static_cast<uint64_t>(c[i]);
        for (size_t k = 0; k < static_cast<size_t>(s.k); ++k) {
            sum += static_cast<uint64_t>(a[row * static_cast<size_t>(s.k) + k]) *
                   static_cast<uint64_t>(b[k * static_cast<size_t>(s.n) + column]);
        }
        uint64_t got = 0;
        std::memcpy(&got, out[2].bytes.data() + i * size_of(t.c), size_of(t.c));
        ASSERT_EQ(got, arith::from_int64(t.c, static_cast<int64_t>(sum)))
            << to_string(t.a) << "·" << to_string(t.b) << "→" << to_string(t.c) << " at " << row
            << ", " << column;
    }
}

std::vector<ScalarType> types_where(bool (*legal)(ScalarType)) {
    std::vector<ScalarType> list;
    for (size_t i = 0; i < scalar_type_count; ++i) {
        if (auto t = static_cast<ScalarType>(i); legal(t)) {
            list.push_back(t);
        }
    }
    return list;
}

std::vector<Triple> triples(bool integers) {
    std::vector<Triple> list;
    auto real = types_where([](ScalarType t) { return is_float(t); });
    auto whole = types_where([](ScalarType t) { return is_integer(t); });
    for (const auto &family : {real, integers ? whole : std::vector<ScalarType>{}}) {
        for (auto c : family) {
            for (auto a : family) {
                for (auto b : family) {
                    if (info(c).computes) {
                        list.push_back({a, b, c});
                    }
                }
            }
        }
    }
    return list;
}

/// One element of Z += X · Y, computed on both back ends.
uint64_t product_of_one(Triple t, bool ordered, double a, double b, double c) {
    auto one = [](ScalarType type, double x) {
        View v;
        v.type = type;
        v.extents = {1, 1}, v.strides = {1, 1};
        v.bytes.resize(64, 0xa5);
        auto bits = arith::from_double(type, x);
        std::memcpy(v.bytes.data(), &bits, size_of(type));
        return v;
    };
    auto out = run_both(parse_kernel(text_of(t, {1, 1, 1, ordered})),
                        {one(t.a, a), one(t.b, b), one(t.c, c)});
    uint64_t bits = 0;
    std::memcpy(&bits, out[2].bytes.data(), size_of(t.c));
    return bits;
}

std::string triple_name(const ::testing::TestParamInfo<Triple> &i) {
    return std::string{to_string(i.param.a)} + "_times_" + to_string(i.param.b) + "_into_" +
           to_string(i.param.c);
}

class EveryTriple : public ::testing::TestWithParam<Triple> {};
class FloatTriple : public ::testing::TestWithParam<Triple> {};
class IntegerTriple : public ::testing::TestWithParam<Triple> {};

}// namespace

TEST_P(EveryTriple, gives_the_exact_sums) { run_product(GetParam(), {9, 17, 7}, false); }
INSTANTIATE_TEST_SUITE_P(Of, EveryTriple, ::testing::ValuesIn(triples(true)), triple_name);

TEST_P(FloatTriple, gives_the_exact_sums_in_ascending_order) {
    run_product(GetParam(), {3, 5, 13, true}, false);
}
INSTANTIATE_TEST_SUITE_P(Of, FloatTriple, ::testing::ValuesIn(triples(false)), triple_name);

TEST_P(IntegerTriple, wraps_at_the_extremes_for_every_contraction_length) {
    for (int64_t k : {0, 1, 2, 3, 4, 5, 31, 67}) {
        run_product(GetParam(), {5, 18, k}, true);
    }
}
INSTANTIATE_TEST_SUITE_P(
    Of, IntegerTriple,
    ::testing::Values(Triple{ScalarType::INT8, ScalarType::INT8, ScalarType::INT32},
                      Triple{ScalarType::UINT8, ScalarType::INT8, ScalarType::INT32},
                      Triple{ScalarType::INT8, ScalarType::UINT8, ScalarType::INT32},
                      Triple{ScalarType::UINT8, ScalarType::UINT8, ScalarType::INT32},
                      Triple{ScalarType::UINT8, ScalarType::UINT8, ScalarType::UINT32},
                      Triple{ScalarType::INT8, ScalarType::INT8, ScalarType::INT8},
                      Triple{ScalarType::INT16, ScalarType::INT16, ScalarType::INT32},
                      Triple{ScalarType::INT32, ScalarType::INT32, ScalarType::INT32},
                      Triple{ScalarType::INT32, ScalarType::INT64, ScalarType::INT64},
                      Triple{ScalarType::UINT64, ScalarType::UINT64, ScalarType::UINT64}),
    triple_name);

TEST(ProductTypes, operands_wider_than_a_16_bit_accumulator_keep_their_value) {
    constexpr auto F16 = ScalarType::FLOAT16, BF16 = ScalarType::BFLOAT16;
    constexpr auto F32 = ScalarType::FLOAT32, F64 = ScalarType::FLOAT64;
    struct Row {
        Triple types;
        double a, b, c, expected;
    };
    // Rounded to the accumulator first, the fraction of a would be lost: 0 instead of 1 or 0.5; or
    // the powers of two would be infinity and zero: NaN instead of 1.
    const Row rows[] = {
        {{F16, BF16, BF16}, 1 + 0x1p-10, 1024, -1024, 1},
        {{BF16, F16, BF16}, 1024, 1 + 0x1p-10, -1024, 1},
        {{F16, F16, BF16}, 1 + 0x1p-10, 1 + 0x1p-10, -1, 0x1p-9 + 0x1p-20},
        {{F32, BF16, BF16}, 1 + 0x1p-20, 0x1p19, -0x1p19, 0.5},
        {{F32, F16, F16}, 1 + 0x1p-12, 2048, -2048, 0.5},
        {{BF16, BF16, F16}, 0x1p100, 0x1p-100, 0, 1},
        {{F32, F32, F16}, 0x1p-60, 0x1p60, 2, 3},
        // Wider than f32: rounded to f32, once.
        {{F64, BF16, BF16}, 1 + 0x1p-30, 0x1p30, -0x1p30, 0},
        {{F64, F64, F32}, 1 + 0x1p-30, 0x1p30, -0x1p30, 0},
    };
    for (const auto &row : rows) {
        for (bool ordered : {false, true}) {
            EXPECT_EQ(product_of_one(row.types, ordered, row.a, row.b, row.c),
                      arith::from_double(row.types.c, row.expected))
                << to_string(row.types.a) << "·" << to_string(row.types.b) << "→"
                << to_string(row.types.c) << (ordered ? " ordered" : "");
        }
    }
}

// Products of narrow elements, which processors multiply in groups: with matrix registers, with dot products and widened.
// What this machine has not is planned as widened, so every case runs in as many ways as there are.

namespace {

enum class Way { MATRIX, DOT, WIDENED };

struct GroupedCase {
    int64_t m, n, k;
    int64_t bm = 32, bn = 64, bk = 32;
    bool transpose_a = false, transpose_b = false, loop = true;
};

target::CpuFacts grouped_facts(Way way) {
    auto facts = target::cpu_facts(emit::host_cpu().features, 1);
    if (way != Way::MATRIX) {
        facts.matrix_bf16 = facts.matrix_int8 = false;
    }
    if (way == Way::WIDENED) {
        facts.dot_bf16 = facts.dot_int8 = false;
    }
    return facts;
}

/// C += A · B, or with `casts` of operands that the program widens itself.
template<class A, class B, class C>
Kernel grouped_kernel(const GroupedCase &g, bool casts = false, bool ordered = false) {
    auto def = tile_kernel(
        [=](TensorView<const A, 2> X, TensorView<const B, 2> Y, TensorView<C, 2> Z) {
            auto m = axis("m", g.bm), n = axis("n", g.bn), k = axis("k", g.loop ? g.bk : g.k);
            for (auto &nest :
                 parallel(shape(ceil_div(Z.extent(0), g.bm), ceil_div(Z.extent(1), g.bn)))) {
                auto m0 = nest.index(0) * g.bm, n0 = nest.index(1) * g.bn;
                auto acc = Z[coord(m0, n0), shape(m, n)];
                auto part = [&](const Scalar<int64_t> &k0) {
                    auto a = g.transpose_a ? X[coord(k0, m0), shape(k, m)]
                                           : X[coord(m0, k0), shape(m, k)];
                    auto b = g.transpose_b ? Y[coord(n0, k0), shape(n, k)]
                                           : Y[coord(k0, n0), shape(k, n)];
                    MmaPolicy policy{};
                    policy.allow_reassociation = !ordered;
                    acc = casts ? mma(cast<C>(a), cast<C>(b), acc, policy) : mma(a, b, acc, policy);
                };
                if (g.loop) {
                    for (auto &step : nest.pipeline(range(0, g.k, g.bk))) {
                        part(step.index());
                    }
                } else {
                    part(Scalar<int64_t>(0));
                }
                Z(coord(m0, n0), shape(m, n)).store(acc);
            }
        });
    return g.transpose_a
               ? (g.transpose_b ? def.capture(tensor_shape(g.k, g.m), tensor_shape(g.n, g.k),
                                              tensor_shape(g.m, g.n))
                                : def.capture(tensor_shape(g.k, g.m), tensor_shape(g.k, g.n),
                                              tensor_shape(g.m, g.n)))
               : (g.transpose_b ? def.capture(tensor_shape(g.m, g.k), tensor_shape(g.n, g.k),
                                              tensor_shape(g.m, g.n))
                                : def.capture(tensor_shape(g.m, g.k), tensor_shape(g.k, g.n),
                                              tensor_shape(g.m, g.n)));
}

std::vector<int64_t> grouped_extents(bool transposed, int64_t rows, int64_t columns) {
    return transposed ? std::vector{columns, rows} : std::vector{rows, columns};
}

void run_grouped(const Kernel &kernel, const std::vector<View> &views, double tolerance = 0) {
    for (auto way : {Way::MATRIX, Way::DOT, Way::WIDENED}) {
        SCOPED_TRACE(static_cast<int>(way));
        BothOptions options;
        options.facts = grouped_facts(way);
        options.tolerance = tolerance;
        run_both(kernel, views, {}, options);
        if (::testing::Test::HasFailure()) {
            return;
        }
    }
}

/// All values of the type, both ends first.
template<class T> View every_value(std::vector<int64_t> extents, int first) {
    std::vector<T> values;
    for (int i = 0; i < 256; ++i) {
        values.push_back(static_cast<T>(first + 77 * i));
    }
    return dense<T>(std::move(extents), values);
}

template<class A, class B, class C> void integers(const GroupedCase &g) {
    SCOPED_TRACE(std::to_string(g.m) + "x" + std::to_string(g.n) + "x" + std::to_string(g.k));
    run_grouped(grouped_kernel<A, B, C>(g),
                {every_value<A>(grouped_extents(g.transpose_a, g.m, g.k), 128),
                 every_value<B>(grouped_extents(g.transpose_b, g.k, g.n), 131),
                 integer_view<C>({g.m, g.n}, 3, 1000)});
}

/// Whether operands are stored transposed goes round with the shapes.
template<class A, class B> void shapes_of_integers(std::vector<GroupedCase> shapes) {
    int form = 0;
    for (auto &g : shapes) {
        g.transpose_a = form & 1;
        g.transpose_b = form & 2;
        integers<A, B, int32_t>(g);
        if (::testing::Test::HasFailure()) {
            return;
        }
        ++form;
    }
}

}// namespace

TEST(GroupedProducts, signed_integers_are_exact) {
    shapes_of_integers<int8_t, int8_t>({{1, 1, 1},
                                        {2, 3, 4},
                                        {17, 33, 61},
                                        {33, 65, 70},
                                        {32, 64, 32},
                                        {64, 128, 32},
                                        {40, 20, 3, 16, 16, 8},
                                        {5, 16, 7}});
}
TEST(GroupedProducts, unsigned_integers_are_exact) {
    shapes_of_integers<uint8_t, uint8_t>({{17, 33, 61}, {5, 16, 7}, {32, 64, 32}, {33, 65, 70}});
}
TEST(GroupedProducts, unsigned_times_signed_is_exact) {
    shapes_of_integers<uint8_t, int8_t>({{17, 33, 61}, {5, 16, 7}, {33, 65, 70}});
}
TEST(GroupedProducts, signed_times_unsigned_is_exact) {
    shapes_of_integers<int8_t, uint8_t>({{17, 33, 61}, {33, 65, 70}, {5, 16, 7}});
}

/// Caches of a few kilobytes: sums wait while panels change, instances go in bands, weights come from afar.
TEST(GroupedProducts, small_caches_take_the_paths_of_large_matrices) {
    auto facts = grouped_facts(Way::MATRIX);
    facts.l1_bytes = 4 << 10;
    facts.l2_bytes = 32 << 10;
    for (auto g : {GroupedCase{128, 160, 256, 64, 80, 64},
                   {100, 161, 250, 64, 80, 64},
                   {16, 256, 256, 16, 128, 64},
                   {3, 256, 256, 16, 128, 64, false, true},
                   {16, 256, 256, 16, 128, 64, false, true}}) {
        SCOPED_TRACE(std::to_string(g.m) + "x" + std::to_string(g.n));
        BothOptions options;
        options.facts = facts;
        run_both(grouped_kernel<int8_t, int8_t, int32_t>(g),
                 {every_value<int8_t>({g.m, g.k}, 128),
                  every_value<int8_t>(grouped_extents(g.transpose_b, g.k, g.n), 131),
                  integer_view<int32_t>({g.m, g.n}, 3, 1000)},
                 {}, options);
        run_both(grouped_kernel<bfloat16, bfloat16, float>(g),
                 {integer_view<bfloat16>({g.m, g.k}, 1),
                  integer_view<bfloat16>(grouped_extents(g.transpose_b, g.k, g.n), 2),
                  integer_view<float>({g.m, g.n}, 3)},
                 {}, options);
        if (HasFailure()) {
            return;
        }
    }
}

TEST(GroupedProducts, every_extent_up_to_127) {
    for (int64_t e = 1; e <= 127; e += 18) {
        integers<int8_t, int8_t, int32_t>({e, 128 - e, e});
        integers<uint8_t, int8_t, uint32_t>({.m = 20, .n = e, .k = 128 - e, .loop = false});
        if (HasFailure()) {
            return;
        }
    }
}

TEST(GroupedProducts, tiles_whose_steps_fill_no_groups) {
    for (int64_t bk : {1, 3, 5, 20, 44}) {
        integers<int8_t, int8_t, int32_t>({.m = 33, .n = 40, .k = 70, .bk = bk});
        integers<uint8_t, uint8_t, int32_t>(
            {.m = 33, .n = 40, .k = 70, .bk = bk, .transpose_a = true, .transpose_b = true});
    }
}

TEST(GroupedProducts, the_lowest_integers_sum_up_and_wrap) {
    GroupedCase g{20, 40, 100};
    auto low = dense<int8_t>({20, 100}, {int8_t{-128}}),
         also = dense<int8_t>({100, 40}, {int8_t{-128}});
    // 100 · 2^14 more than this does not fit.
    auto sums = dense<int32_t>({20, 40}, {2147483647, -2147483647 - 1, 0});
    run_grouped(grouped_kernel<int8_t, int8_t, int32_t>(g), {low, also, sums});
    auto high = dense<uint8_t>({20, 100}, {uint8_t{255}}),
         most = dense<uint8_t>({100, 40}, {uint8_t{255}});
    run_grouped(grouped_kernel<uint8_t, uint8_t, int32_t>(g), {high, most, sums});
    run_grouped(grouped_kernel<uint8_t, int8_t, int32_t>(g), {high, also, sums});
}

TEST(GroupedProducts, operands_that_the_program_widens) {
    for (auto g : {GroupedCase{33, 65, 70}, {7, 100, 64}}) {
        run_grouped(grouped_kernel<int8_t, int8_t, int32_t>(g, true),
                    {every_value<int8_t>({g.m, g.k}, 128), every_value<int8_t>({g.k, g.n}, 3),
                     integer_view<int32_t>({g.m, g.n}, 3)});
        run_grouped(grouped_kernel<bfloat16, bfloat16, float>(g, true),
                    {integer_view<bfloat16>({g.m, g.k}, 1), integer_view<bfloat16>({g.k, g.n}, 2),
                     integer_view<float>({g.m, g.n}, 3)});
    }
}

TEST(GroupedProducts, bf16_sums_of_small_integers_are_exact) {
    int next = 0;
    for (auto g : {GroupedCase{1, 1, 1},
                   {5, 16, 7},
                   {17, 33, 61},
                   {33, 65, 70},
                   {64, 128, 64},
                   {40, 20, 3, 16, 16, 8},
                   {30, 50, 90, 32, 64, 5}}) {
        for (int form : {next & 7, (next + 5) & 7}) {
            ++next;
            g.transpose_a = form & 1;
            g.transpose_b = form & 2;
            g.loop = form & 4;
            SCOPED_TRACE(std::to_string(g.m) + " form " + std::to_string(form));
            run_grouped(grouped_kernel<bfloat16, bfloat16, float>(g),
                        {integer_view<bfloat16>(grouped_extents(g.transpose_a, g.m, g.k), 1),
                         integer_view<bfloat16>(grouped_extents(g.transpose_b, g.k, g.n), 2),
                         integer_view<float>({g.m, g.n}, 3)});
            if (HasFailure()) {
                return;
            }
        }
    }
}

TEST(GroupedProducts, bf16_sums_of_fractions_stay_within_their_bound) {
    GroupedCase g{65, 70, 500};
    run_grouped(grouped_kernel<bfloat16, bfloat16, float>(g),
                {random_view<bfloat16>({g.m, g.k}, 1), random_view<bfloat16>({g.k, g.n}, 2),
                 random_view<float>({g.m, g.n}, 3)},
                500 * 0x1p-23);
}

TEST(GroupedProducts, bf16_specials_reach_the_sums) {
    GroupedCase g{20, 40, 40};
    std::vector<bfloat16> specials(41, bfloat16{0.5f});
    specials[3] = bfloat16{std::numeric_limits<float>::infinity()};
    specials[17] = bfloat16{-std::numeric_limits<float>::infinity()};
    specials[30] = bfloat16{std::numeric_limits<float>::quiet_NaN()};
    specials[36] = bfloat16{0.0f};
    run_grouped(grouped_kernel<bfloat16, bfloat16, float>(g),
                {dense<bfloat16>({g.m, g.k}, specials), integer_view<bfloat16>({g.k, g.n}, 2, 1),
                 integer_view<float>({g.m, g.n}, 3)});
}

TEST(GroupedProducts, ordered_bf16_keeps_subnormal_products) {
    GroupedCase g{20, 40, 33};
    std::vector<bfloat16> tiny{bfloat16{0x1p-130f}, bfloat16{-0x1p-100f}, bfloat16{0x1p-133f}};
    std::vector<bfloat16> others{bfloat16{0x1p100f}, bfloat16{0x1p-30f}, bfloat16{1.0f}};
    run_grouped(grouped_kernel<bfloat16, bfloat16, float>(g, false, true),
                {dense<bfloat16>({g.m, g.k}, tiny), dense<bfloat16>({g.k, g.n}, others),
                 dense<float>({g.m, g.n}, {0.0f})});
}
