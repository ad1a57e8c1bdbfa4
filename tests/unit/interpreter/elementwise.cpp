// SPDX-License-Identifier: Apache-2.0
#include "kernel.h"

#include "math/table.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace luisa::tile::interpreter::test {

namespace {

using Floats = std::vector<std::vector<float>>;

// out[i] = op(x[i]...) over whole vectors.
template<class R, class T> std::vector<R> apply(Opcode op, std::vector<std::vector<T>> x) {
    Kernel k;
    Values operands;
    for (auto &v : x) {
        operands.push_back(k.load_all(k.vector(v)));
    }
    std::vector<R> out(x[0].size());
    k.store_all(k.vector(out), k.op(op, operands));
    k.run();
    return out;
}

template<class T> std::vector<T> compute(Opcode op, std::vector<std::vector<T>> x) {
    return apply<T, T>(op, std::move(x));
}

std::vector<uint8_t> compare(Opcode op, std::vector<float> a, std::vector<float> b) {
    Kernel k;
    auto *x = k.load_all(k.vector(a));
    auto *y = k.load_all(k.vector(b));
    std::vector<uint8_t> out(a.size(), 7);
    auto *to = k.view(BOOL, out.data(), {{static_cast<int64_t>(out.size())}, {}});
    k.store_all(to, k.op(op, {x, y}));
    k.run();
    return out;
}

// One element converted by CAST, BITCAST or QUANTIZE.
uint64_t convert(Opcode op, ScalarType from, uint64_t bits, ScalarType to,
                 ir::Payload payload = ir::None{}) {
    Kernel k;
    uint64_t out = 0;
    auto *x = k.scalar(from, bits);
    auto *view = k.view(to, &out, {{1}, {}});
    k.store(view, k.b.elementwise(op, {x}, payload, &to), {k.index(0)}, {});
    k.run();
    return out;
}

TEST(Elementwise, F32Arithmetic) {
    std::vector<float> a{1.5f, -2.0f, 0.1f}, b{0.25f, 4.0f, 0.2f};
    EXPECT_EQ(compute(Opcode::ADD, std::vector{a, b}), (std::vector{1.75f, 2.0f, 0.1f + 0.2f}));
    EXPECT_EQ(compute(Opcode::SUB, std::vector{a, b}), (std::vector{1.25f, -6.0f, 0.1f - 0.2f}));
    EXPECT_EQ(compute(Opcode::MUL, std::vector{a, b}), (std::vector{0.375f, -8.0f, 0.1f * 0.2f}));
    EXPECT_EQ(compute(Opcode::DIV, std::vector{a, b}), (std::vector{6.0f, -0.5f, 0.1f / 0.2f}));
}

TEST(Elementwise, F32SpecialValues) {
    auto sum = compute<float>(Opcode::ADD, {{infinity, -0.0f, nan}, {-infinity, -0.0f, 1.0f}});
    EXPECT_TRUE(std::isnan(sum[0]));
    EXPECT_TRUE(std::signbit(sum[1]));
    EXPECT_TRUE(std::isnan(sum[2]));
    EXPECT_EQ(compute<float>(Opcode::DIV, {{1.0f, -1.0f}, {0.0f, 0.0f}}),
              (std::vector{infinity, -infinity}));
}

TEST(Elementwise, MultiplyAddIsTwoRoundings) {
    // (1 + 2^-12)^2 - 1: fma keeps the 2^-24 that the product loses.
    auto x = 1.0f + 0x1p-12f;
    EXPECT_EQ(compute<float>(Opcode::FMA, {{x}, {x}, {-1.0f}})[0], 0x1p-11f + 0x1p-24f);
    auto product = compute<float>(Opcode::MUL, {{x}, {x}});
    EXPECT_EQ(compute<float>(Opcode::ADD, {product, {-1.0f}})[0], 0x1p-11f);
}

TEST(Elementwise, F64) {
    EXPECT_EQ(compute<double>(Opcode::ADD, {{0.1}, {0.2}})[0], 0.1 + 0.2);
    EXPECT_EQ(compute<double>(Opcode::SQRT, {{2.0}})[0], std::sqrt(2.0));
}

TEST(Elementwise, HalfRoundsOnce) {
    auto out = compute<half>(Opcode::ADD,
                             {{half{2048.0f}, half{65504.0f}}, {half{1.0f}, half{16.0f}}});
    EXPECT_EQ(out[0].bits(), half{2048.0f}.bits());// tie to even
    EXPECT_EQ(out[1].bits(), 0x7c00);              // overflow
}

TEST(Elementwise, HalfFmaRoundsInF32First) {
    auto h = [](uint16_t bits) { return std::vector{half::from_bits(bits)}; };
    EXPECT_EQ(compute<half>(Opcode::FMA, {h(0x1001), h(0x3bfe), h(0x3c01)})[0].bits(), 0x3c02);
}

TEST(Elementwise, Bf16) {
    auto out = compute<bfloat16>(Opcode::MUL, {{bfloat16{1.0078125f}}, {bfloat16{1.0078125f}}});
    EXPECT_EQ(out[0].bits(), bfloat16{1.0078125f * 1.0078125f}.bits());
}

TEST(Elementwise, SubnormalsSurviveACallerThatFlushes) {
#if defined(__x86_64__)
    auto saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8040u);// flush to zero, denormals are zero
    auto out = compute<float>(Opcode::ADD, {{0x1p-149f}, {0x1p-149f}});
    auto control = _mm_getcsr();
    _mm_setcsr(saved);
    EXPECT_EQ(bits_of(out[0]), 2u);
    EXPECT_EQ(control & ~0x3fu, (saved | 0x8040u) & ~0x3fu);
#endif
}

TEST(Elementwise, IntegersWrap) {
    EXPECT_EQ(compute<int32_t>(Opcode::ADD, {{INT32_MAX}, {1}})[0], INT32_MIN);
    EXPECT_EQ(compute<uint8_t>(Opcode::MUL, {{200}, {3}})[0], uint8_t(600));
    EXPECT_EQ(compute<int64_t>(Opcode::SUB, {{INT64_MIN}, {1}})[0], INT64_MAX);
    EXPECT_EQ(compute<int8_t>(Opcode::NEG, {{-128}})[0], -128);
    EXPECT_EQ(compute<int16_t>(Opcode::ABS, {{-5, INT16_MIN}}),
              (std::vector<int16_t>{5, INT16_MIN}));
}

TEST(Elementwise, IntegerDivisionIsTotal) {
    std::vector<int32_t> a{7, -7, 7, INT32_MIN, 5}, b{2, 2, -2, -1, 0};
    EXPECT_EQ(compute(Opcode::DIV, std::vector{a, b}),
              (std::vector<int32_t>{3, -3, -3, INT32_MIN, 0}));
    EXPECT_EQ(compute(Opcode::REM, std::vector{a, b}), (std::vector<int32_t>{1, -1, 1, 0, 0}));
    EXPECT_EQ(compute(Opcode::FLOOR_DIV, std::vector{a, b}),
              (std::vector<int32_t>{3, -4, -4, INT32_MIN, 0}));
    EXPECT_EQ(compute(Opcode::FLOOR_MOD, std::vector{a, b}),
              (std::vector<int32_t>{1, 1, -1, 0, 0}));
    EXPECT_EQ(compute(Opcode::CEIL_DIV, std::vector{a, b}),
              (std::vector<int32_t>{4, -3, -3, INT32_MIN, 0}));
}

TEST(Elementwise, ShiftsBeyondTheWidth) {
    EXPECT_EQ(compute<uint8_t>(Opcode::SHL, {{1, 1, 255}, {7, 8, 1}}),
              (std::vector<uint8_t>{128, 0, 254}));
    EXPECT_EQ(compute<int8_t>(Opcode::SHR, {{-128, -1, 64}, {3, 100, 8}}),
              (std::vector<int8_t>{-16, -1, 0}));
}

TEST(Elementwise, Bits) {
    EXPECT_EQ(compute<uint16_t>(Opcode::AND, {{0xff0f}, {0x0ff0}})[0], 0x0f00);
    EXPECT_EQ(compute<uint16_t>(Opcode::OR, {{0xf000}, {0x000f}})[0], 0xf00f);
    EXPECT_EQ(compute<uint16_t>(Opcode::XOR, {{0xffff}, {0x00ff}})[0], 0xff00);
    EXPECT_EQ(compute<uint16_t>(Opcode::NOT, {{0x00ff}})[0], 0xff00);
}

TEST(Elementwise, Comparisons) {
    std::vector<float> a{1, 2, 2, nan, -0.0f}, b{2, 1, 2, 1, 0.0f};
    using Bools = std::vector<uint8_t>;
    EXPECT_EQ(compare(Opcode::LT, a, b), (Bools{1, 0, 0, 0, 0}));
    EXPECT_EQ(compare(Opcode::LE, a, b), (Bools{1, 0, 1, 0, 1}));
    EXPECT_EQ(compare(Opcode::GT, a, b), (Bools{0, 1, 0, 0, 0}));
    EXPECT_EQ(compare(Opcode::GE, a, b), (Bools{0, 1, 1, 0, 1}));
    EXPECT_EQ(compare(Opcode::EQ, a, b), (Bools{0, 0, 1, 0, 1}));
    EXPECT_EQ(compare(Opcode::NE, a, b), (Bools{1, 1, 0, 1, 0}));
}

TEST(Elementwise, UnsignedComparison) {
    EXPECT_EQ(compute<uint64_t>(Opcode::MAXIMUM, {{~0ull}, {1}})[0], ~0ull);
    EXPECT_EQ(compute<int64_t>(Opcode::MAXIMUM, {{-1}, {1}})[0], 1);
}

TEST(Elementwise, MinimumAndMaximum) {
    auto low = compute<float>(Opcode::MINIMUM, {{-0.0f, nan, 1}, {0.0f, 1, 2}});
    EXPECT_TRUE(std::signbit(low[0]));
    EXPECT_TRUE(std::isnan(low[1]));
    EXPECT_EQ(low[2], 1.0f);
    auto high = compute<float>(Opcode::FMAX, {{-0.0f, nan, nan}, {0.0f, 1, nan}});
    EXPECT_FALSE(std::signbit(high[0]));
    EXPECT_EQ(high[1], 1.0f);
    EXPECT_TRUE(std::isnan(high[2]));
    EXPECT_EQ(compute<float>(Opcode::FMIN, {{nan}, {-3}})[0], -3.0f);
    EXPECT_TRUE(std::isnan(compute<float>(Opcode::MAXIMUM, {{nan}, {-3}})[0]));
}

TEST(Elementwise, Rounding) {
    std::vector<float> x{2.5f, -2.5f, 0.3f, -0.3f};
    EXPECT_EQ(compute(Opcode::RINT, Floats{x}), (std::vector{2.0f, -2.0f, 0.0f, -0.0f}));
    EXPECT_EQ(compute(Opcode::FLOOR, Floats{x}), (std::vector{2.0f, -3.0f, 0.0f, -1.0f}));
    EXPECT_EQ(compute(Opcode::CEIL, Floats{x}), (std::vector{3.0f, -2.0f, 1.0f, -0.0f}));
    EXPECT_EQ(compute(Opcode::TRUNC, Floats{x}), (std::vector{2.0f, -2.0f, 0.0f, -0.0f}));
    EXPECT_EQ(compute<float>(Opcode::SQRT, {{2.0f}})[0], std::sqrt(2.0f));
}

TEST(Elementwise, NegativeAndAbsoluteKeepNaNBits) {
    auto x = std::bit_cast<float>(0x7fc12345u);
    EXPECT_EQ(bits_of(compute<float>(Opcode::NEG, {{x}})[0]), 0xffc12345u);
    EXPECT_EQ(bits_of(compute<float>(Opcode::ABS, {{-x}})[0]), 0x7fc12345u);
}

TEST(Elementwise, IteSelectsAndKeepsBits) {
    Kernel k;
    std::vector<float> a{1, std::bit_cast<float>(0x7fa00001u)}, out(2);
    uint8_t flags[] = {0, 1};
    auto *c = k.load_all(k.view(BOOL, flags, {{2}, {}}));
    auto *x = k.load_all(k.vector(a));
    k.store_all(k.vector(out), k.op(Opcode::ITE, {c, x, k.full(FLOAT32, {}, 5)}));
    k.run();
    EXPECT_EQ(out[0], 5.0f);
    EXPECT_EQ(bits_of(out[1]), 0x7fa00001u);
}

TEST(Elementwise, JoinsByIdentity) {
    Kernel k;
    std::vector<int32_t> out(6);
    auto *rows = k.b.value(Opcode::IOTA, {}, k.tile(INT32, {{M, 2}}));
    auto *columns = k.b.value(Opcode::IOTA, {}, k.tile(INT32, {{N, 3}}));
    auto *tens = k.op(Opcode::MUL, {rows, k.full(INT32, {}, 10)});
    auto *sum = k.op(Opcode::ADD, {tens, columns});// [m, n]
    k.store(k.matrix(out, 2, 3), sum, {k.index(0), k.index(0)}, {{M, 2}, {N, 3}});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 1, 2, 10, 11, 12}));
}

TEST(Elementwise, OperandOrderDecidesTheResultOrder) {
    Kernel k;
    std::vector<int32_t> out(6);
    auto *rows = k.b.value(Opcode::IOTA, {}, k.tile(INT32, {{M, 2}}));
    auto *columns = k.b.value(Opcode::IOTA, {}, k.tile(INT32, {{N, 3}}));
    auto *tens = k.op(Opcode::MUL, {rows, k.full(INT32, {}, 10)});
    auto *sum = k.op(Opcode::ADD, {columns, tens});// [n, m]
    EXPECT_EQ(sum->type()->dims[0].dim, N);
    k.store(k.matrix(out, 3, 2), sum, {k.index(0), k.index(0)}, {{N, 3}, {M, 2}});
    k.run();
    EXPECT_EQ(out, (std::vector<int32_t>{0, 10, 1, 11, 2, 12}));
}

TEST(Elementwise, ExtentOfOneBroadcasts) {
    Kernel k;
    std::vector<float> row{1, 2, 3}, out(6);
    auto *x = k.load(k.matrix(row, 1, 3), {k.index(0), k.index(0)}, {{M, 1}, {N, 3}});
    auto *y = k.op(Opcode::MUL, {k.full(FLOAT32, {{M, 2}, {N, 3}}, 2), x});
    k.store(k.matrix(out, 2, 3), y, {k.index(0), k.index(0)}, {{M, 2}, {N, 3}});
    k.run();
    EXPECT_EQ(out, (std::vector<float>{2, 4, 6, 2, 4, 6}));
}

TEST(Elementwise, CastFloatToInteger) {
    auto f = [](float x, ScalarType to) { return convert(Opcode::CAST, FLOAT32, bits_of(x), to); };
    EXPECT_EQ(f(-1.9f, INT32), 0xffffffffu);
    EXPECT_EQ(f(1e20f, INT32), 0x7fffffffu);
    EXPECT_EQ(f(-5.0f, UINT8), 0u);
    EXPECT_EQ(f(nan, INT64), 0u);
    EXPECT_EQ(f(300.0f, UINT8), 255u);
    EXPECT_EQ(f(0.5f, BOOL), 1u);
}

TEST(Elementwise, CastRoundsOnce) {
    EXPECT_EQ(convert(Opcode::CAST, INT32, 16842753, BFLOAT16), 0x4b81u);
    EXPECT_EQ(convert(Opcode::CAST, FLOAT64, bits_of(65520.0 - 0x1p-20), FLOAT16), 0x7bffu);
    EXPECT_EQ(convert(Opcode::CAST, FLOAT32, 0x3f818000, BFLOAT16), 0x3f82u);
    EXPECT_EQ(convert(Opcode::CAST, FLOAT8_E4M3FN, 0x7e, FLOAT32), bits_of(448.0f));
    EXPECT_EQ(convert(Opcode::CAST, BOOL, 1, FLOAT32), bits_of(1.0f));
    EXPECT_EQ(convert(Opcode::CAST, INT8, 0xff, INT64), ~0ull);
}

TEST(Elementwise, Quantize) {
    auto q = [](float x, ScalarType to, bool saturate) {
        return convert(Opcode::QUANTIZE, FLOAT32, bits_of(x), to, ir::QuantizePayload{saturate});
    };
    EXPECT_EQ(q(464, FLOAT8_E4M3FN, false), 0x7eu);
    EXPECT_EQ(q(465, FLOAT8_E4M3FN, false), 0x7fu);
    EXPECT_EQ(q(465, FLOAT8_E4M3FN, true), 0x7eu);
    EXPECT_EQ(q(-61440, FLOAT8_E5M2, false), 0xfcu);
    EXPECT_EQ(q(-61440, FLOAT8_E5M2, true), 0xfbu);
    EXPECT_EQ(q(nan, FLOAT8_E5M2, true), 0x7fu);
}

TEST(Elementwise, BitcastKeepsBits) {
    EXPECT_EQ(convert(Opcode::BITCAST, FLOAT32, 0xffc00001u, UINT32), 0xffc00001u);
    EXPECT_EQ(convert(Opcode::BITCAST, INT16, 0x8001u, BFLOAT16), 0x8001u);
}

TEST(Elementwise, Fp8ComparesAndNegates) {
    Kernel k;
    uint8_t a[] = {0x38, 0xb8}, b[] = {0x40, 0x38}, out[2];
    auto *x = k.load_all(k.view(FLOAT8_E4M3FN, a, {{2}, {}}));
    auto *y = k.load_all(k.view(FLOAT8_E4M3FN, b, {{2}, {}}));
    k.store_all(k.view(FLOAT8_E4M3FN, out, {{2}, {}}),
                k.op(Opcode::MAXIMUM, {x, k.op(Opcode::NEG, {y})}));
    k.run();
    EXPECT_EQ(out[0], 0x38);
    EXPECT_EQ(out[1], 0xb8);
}

TEST(Elementwise, MathIsTheFunctionTable) {
    std::vector<float> x{0.7f, -3.0f, 88.0f, infinity, -infinity, 0.0f};
    for (size_t i = 0; i < math::function_count; ++i) {
        auto function = static_cast<math::Function>(i);
        Opcode op{};
        ASSERT_TRUE(ir::parse_opcode(math::to_string(function), op));
        auto binary = ir::info(op).arity == 2;
        auto y = binary ? compute(op, Floats{x, x}) : compute(op, Floats{x});
        for (size_t j = 0; j < x.size(); ++j) {
            float arguments[] = {x[j], x[j]};
            auto expected = math::evaluate(function, arguments);
            EXPECT_TRUE(bits_of(y[j]) == bits_of(expected) ||
                        (std::isnan(y[j]) && std::isnan(expected)))
                << math::to_string(function) << " of " << x[j];
        }
    }
}

TEST(Elementwise, MathOfHalfRoundsOnce) {
    float x = 0.5f;
    auto y = compute<half>(Opcode::EXP, {{half{x}}});
    EXPECT_EQ(y[0].bits(), half{math::evaluate(math::Function::EXP, &x)}.bits());
}

TEST(Elementwise, MathWithoutAFunctionIsUnsupported) {
    for (auto op : {Opcode::GELU, Opcode::ERFC}) {
        math::Function function{};
        ASSERT_TRUE(math::parse_function(to_string(op), function));
        if (math::supports(function, FLOAT64)) {
            continue;
        }
        Kernel k;
        std::vector<double> x{1}, out(1);
        auto *value = k.load_all(k.vector(x));
        k.b.loc = {"k.cpp", 8};
        k.store_all(k.vector(out), k.op(op, {value}));
        auto message = k.error<UnsupportedError>();
        EXPECT_TRUE(says(message, "k.cpp:8"));
        EXPECT_TRUE(says(message, std::string{to_string(op)} + " on f64"));
        EXPECT_TRUE(says(message, "cast<float>"));
    }
}

TEST(Elementwise, ExactTierIsUnsupported) {
    Kernel k;
    auto *x = k.full(FLOAT32, {}, 1);
    k.b.elementwise(Opcode::EXP, {x}, ir::MathPayload{MathTier::EXACT});
    EXPECT_TRUE(says(k.error<UnsupportedError>(), "MathTier::STRICT"));
}

TEST(Elementwise, EmptyTiles) {
    Kernel k;
    std::vector<float> out{3};
    auto *x = k.full(FLOAT32, {{at(0), 0}}, 1);
    k.store(k.vector(out), k.op(Opcode::ADD, {x, x}), {k.index(0)}, {{at(0), 0}});
    k.run();
    EXPECT_EQ(out[0], 3.0f);
}

}// namespace

}// namespace luisa::tile::interpreter::test
