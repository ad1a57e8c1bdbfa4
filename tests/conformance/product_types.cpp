// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/both.h"

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
