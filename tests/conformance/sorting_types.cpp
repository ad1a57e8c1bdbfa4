// SPDX-License-Identifier: Apache-2.0
#include "sorting.h"

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Extents that need every width of key, along rows and across them, in both orders.
template<class T> void check_type(bool with_nan) {
    auto values = ordering_values<T>(7, with_nan, 100);
    for (auto order : {ascending, descending}) {
        check_ordering<T>({{1, 2, 37}, 2, order, {.nan = nan::first}}, values);
        check_ordering<T>({{2, 11, 9}, 1, order}, values);
        check_ordering<T>({{1, 2, 150}, 2, order, {.indices = false}}, values);
        check_ordering<T>({{1, 3, 50}, 2, order, {}, 6}, values);
    }
}

template<class T> std::vector<T> any_bits() {
    std::mt19937_64 engine{11};
    std::vector<T> values(301);
    for (auto &x : values) {
        auto bits = engine();
        std::memcpy(static_cast<void *>(&x), &bits, sizeof(T));
    }
    return values;
}

}// namespace

TEST(SortingTypes, boolean) {
    std::vector<bool> flags{true, false, false, true, true, false, true};
    auto make = [](const Request &r) { return ordering_kernel<bool>(r); };
    for (auto order : {ascending, descending}) {
        for (bool indices : {true, false}) {
            Request r{{1, 3, 21}, 2, order, {.indices = indices}};
            auto input = output_view<uint8_t>(r.extents);
            input.type = ScalarType::BOOL;
            for (size_t i = 0; i < 63; ++i) {
                input.bytes[i] = flags[i % flags.size()];
            }
            auto output = input;
            expect_order(run_both(make(r), {input, output, index_view(r.extents)}), r);
        }
    }
}
TEST(SortingTypes, i8) { check_type<int8_t>(false); }
TEST(SortingTypes, u8) { check_type<uint8_t>(false); }
TEST(SortingTypes, i16) { check_type<int16_t>(false); }
TEST(SortingTypes, u16) { check_type<uint16_t>(false); }
TEST(SortingTypes, i32) { check_type<int32_t>(false); }
TEST(SortingTypes, u32) { check_type<uint32_t>(false); }
TEST(SortingTypes, i64) { check_type<int64_t>(false); }
TEST(SortingTypes, u64) { check_type<uint64_t>(false); }
TEST(SortingTypes, f16) { check_type<half>(true); }
TEST(SortingTypes, bf16) { check_type<bf16>(true); }
TEST(SortingTypes, f32) { check_type<float>(true); }
TEST(SortingTypes, f64) { check_type<double>(true); }

/// Every encoding of the 8-bit floats, NaNs included.
TEST(SortingTypes, e4m3_and_e5m2_of_any_bits) {
    for (auto order : {ascending, descending}) {
        check_ordering<float8_e4m3fn>({{1, 1, 301}, 2, order}, any_bits<float8_e4m3fn>());
        check_ordering<float8_e5m2>({{1, 1, 301}, 2, order}, any_bits<float8_e5m2>());
        check_ordering<float8_e4m3fn>({{1, 31, 9}, 1, order, {.nan = nan::first}, 5},
                                      any_bits<float8_e4m3fn>());
    }
}
TEST(SortingTypes, extreme_integers) {
    constexpr auto low = INT64_MIN, high = INT64_MAX;
    check_ordering<int64_t>({{1, 2, 9}, 2}, {high, low, 0, -1, 1, low, high, low + 1, high - 1});
    check_ordering<uint64_t>({{1, 2, 9}, 2, descending},
                             {UINT64_MAX, 0, 1, UINT64_MAX, UINT64_MAX - 1, 0});
    check_ordering<int32_t>({{1, 2, 9}, 2}, {INT32_MAX, INT32_MIN, 0, -1, INT32_MAX, INT32_MIN});
    // As large as what pads a line to a power of two.
    check_ordering<uint8_t>({{1, 2, 9}, 2}, {255, 255, 0, 255});
    check_ordering<uint8_t>({{1, 2, 9}, 2, descending, {.indices = false}}, {255, 255, 0, 255});
}
TEST(SortingTypes, subnormal_and_infinite_f32) {
    check_ordering<float>({{1, 1, 12}, 2}, {1e-45f, -1e-45f, 0.0f, -0.0f, HUGE_VALF, -HUGE_VALF,
                                            3e38f, -3e38f, 1e-38f, NAN});
}

TEST(SortingAlgorithm, packed_f32_gives_the_bits_back) {
    auto values = ordering_values<float>(3, false);
    for (auto order : {ascending, descending}) {
        for (int64_t n : {1, 2, 4, 64, 256}) {
            SortOptions packed{.algorithm = SortAlgorithm::PACKED_FP32};
            check_ordering<float>({{1, 2, n}, 2, order, packed}, values);
            check_ordering<float>({{1, n, 20}, 1, order, packed, (n + 1) / 2}, values);
        }
    }
}
