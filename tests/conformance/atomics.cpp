// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include "support/views.h"

#include <algorithm>
#include <bit>
#include <limits>

// Atomic updates of elements: what they leave and what they give, on both back ends and on several threads.

using namespace luisa::tile;
using namespace luisa::tile::test;

namespace {

/// Contributions of every element of a vector to `slots` elements, by each kind of update.
template<class T> Kernel all_updates(int64_t n, int64_t slots) {
    auto def = tile_kernel([=](TensorView<const T, 1> X, TensorView<T, 2> Y, TensorView<T, 2> Old) {
        auto i = axis("i", n);
        for (auto &nest : serial(shape(i))) {
            auto at = nest.index();
            auto slot = at % slots;
            Scalar<T> x = X[coord(at)];
            Old(0, at).store(Y(0, slot).atomic_add(x));
            Old(1, at).store(Y(1, slot).atomic_min(x));
            Old(2, at).store(Y(2, slot).atomic_max(x));
            Old(3, at).store(Y(3, slot).atomic_exch(x));
            Old(4, at).store(Y(4, slot).atomic_cas(T(3), x));
        }
    });
    return def.capture(tensor_shape(n), tensor_shape(5, slots), tensor_shape(5, n));
}

template<class T> class Atomics : public ::testing::Test {};
using AtomicTypes = ::testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                                     uint64_t, half, bf16, float, double>;
TYPED_TEST_SUITE(Atomics, AtomicTypes);

}// namespace

TYPED_TEST(Atomics, leave_and_give_the_same_on_both_back_ends) {
    using T = TypeParam;
    for (int64_t n : {1, 3, 100}) {
        auto out = run_both(
            all_updates<T>(n, 3),
            {integer_view<T>({n}, 7, 5), integer_view<T>({5, 3}, 8, 3), output_view<T>({5, n})});
        // The first update of a slot gives what was there.
        EXPECT_EQ(
            std::memcmp(out[2].bytes.data(), integer_view<T>({5, 3}, 8, 3).bytes.data(), sizeof(T)),
            0);
    }
}

TEST(AtomicBits, of_integers) {
    auto def = tile_kernel([](TensorView<const uint32_t, 1> X, TensorView<uint32_t, 1> Y,
                              TensorView<uint32_t, 2> Old) {
        for (auto &nest : serial(shape(axis("i", 50)))) {
            auto at = nest.index();
            auto x = X[coord(at)];
            Old(0, at).store(Y(0).atomic_and(x));
            Old(1, at).store(Y(1).atomic_or(x));
            Old(2, at).store(Y(2).atomic_xor(x));
        }
    });
    std::vector<uint32_t> x;
    for (uint32_t i = 0; i < 50; ++i) {
        x.push_back(i * 2654435761u);
    }
    uint32_t all = 0xffff0fffu, some = 5, odd = 9;
    auto out = run_both(def.capture(tensor_shape(50), tensor_shape(3), tensor_shape(3, 50)),
                        {dense<uint32_t>({50}, x), dense<uint32_t>({3}, {all, some, odd}),
                         output_view<uint32_t>({3, 50})});
    for (auto v : x) {
        all &= v;
        some |= v;
        odd ^= v;
    }
    EXPECT_EQ(element<uint32_t>(out[1], 0), all);
    EXPECT_EQ(element<uint32_t>(out[1], 1), some);
    EXPECT_EQ(element<uint32_t>(out[1], 2), odd);
}

// Case F9.
TEST(AtomicFloats, order_zeros_by_sign_and_keep_nan) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    auto def = tile_kernel(
        [](TensorView<const float, 1> X, TensorView<float, 1> Low, TensorView<float, 1> High) {
            for (auto &nest : serial(shape(axis("i", 4)))) {
                auto at = nest.index();
                (void)Low(at).atomic_min(X[coord(at)]);
                (void)High(at).atomic_max(X[coord(at)]);
            }
        });
    auto out = run_both(def.capture(tensor_shape(4), tensor_shape(4), tensor_shape(4)),
                        {dense<float>({4}, {-0.0f, 0.0f, nan, 1.0f}),
                         dense<float>({4}, {0.0f, -0.0f, 1.0f, nan}),
                         dense<float>({4}, {0.0f, -0.0f, 1.0f, nan})});
    EXPECT_TRUE(std::signbit(element<float>(out[1], 0)));
    EXPECT_TRUE(std::signbit(element<float>(out[1], 1)));
    EXPECT_FALSE(std::signbit(element<float>(out[2], 0)));
    EXPECT_FALSE(std::signbit(element<float>(out[2], 1)));
    for (size_t view : {1, 2}) {
        EXPECT_TRUE(std::isnan(element<float>(out[view], 2)));
        EXPECT_TRUE(std::isnan(element<float>(out[view], 3)));
    }
}

TEST(AtomicFloats, compare_by_bits) {
    auto def = tile_kernel([](TensorView<float, 1> Y, TensorView<float, 1> Old) {
        Old(0).store(Y(0).atomic_cas(std::numeric_limits<float>::quiet_NaN(), 1.0f));
        Old(1).store(Y(1).atomic_cas(0.0f, 1.0f));
        Old(2).store(Y(2).atomic_cas(-0.0f, 1.0f));
    });
    auto out = run_both(def.capture(tensor_shape(3), tensor_shape(3)),
                        {dense<float>({3}, {std::numeric_limits<float>::quiet_NaN(), -0.0f, -0.0f}),
                         output_view({3})});
    EXPECT_EQ(element<float>(out[0], 0), 1.0f);
    EXPECT_EQ(std::bit_cast<uint32_t>(element<float>(out[0], 1)), 0x80000000u);
    EXPECT_EQ(element<float>(out[0], 2), 1.0f);
}

TEST(AtomicPlaces, outside_a_view_do_nothing_and_give_zero) {
    auto def = tile_kernel([](TensorView<int32_t, 2> Y, TensorView<int32_t, 1> Old) {
        for (auto &nest : serial(shape(axis("i", 7)))) {
            auto at = nest.index() - 2;
            Old(nest.index()).store(Y(at, 1).atomic_add(5) + Y(1, at).atomic_exch(6));
        }
    });
    run_both(def.capture(tensor_shape(3, 2), tensor_shape(7)),
             {integer_view<int32_t>({3, 2}, 3), output_view<int32_t>({7})});
}

TEST(AtomicPlaces, are_snapshots_beside_loads_and_stores_of_the_view) {
    auto def = tile_kernel([](TensorView<int32_t, 1> Y, TensorView<int32_t, 2> Z) {
        auto i = axis("i", 9);
        auto before = Y[coord(0), shape(i)];
        auto old = Y(4).atomic_add(100);
        auto after = Y[coord(0), shape(i)];
        Y(4).store(Y(4).load() + old);
        auto last_one = Y[coord(0), shape(i)];
        Z(coord(0, 0), shape(1, i)).store(before);
        Z(coord(1, 0), shape(1, i)).store(after);
        Z(coord(2, 0), shape(1, i)).store(last_one);
    });
    auto out = run_both(
        def.capture(tensor_shape(9), tensor_shape(3, 9)),
        {dense<int32_t>({9}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), output_view<int32_t>({3, 9})});
    EXPECT_EQ(element<int32_t>(out[1], 4), 5);
    EXPECT_EQ(element<int32_t>(out[1], 13), 105);
    EXPECT_EQ(element<int32_t>(out[1], 22), 110);
}

TEST(AtomicPlaces, stand_in_branches_loops_and_reductions) {
    auto def = tile_kernel(
        [](TensorView<const int32_t, 1> X, TensorView<int32_t, 1> Y, TensorView<int32_t, 1> Z) {
            auto i = axis("i", 33);
            auto x = X[coord(0), shape(i)];
            Scalar<int32_t> sum = 0;
            for (auto &nest : reduce(x.domain(i))) {
                auto v = Scalar<int32_t>(x.at(nest));
                sum += v;
                (void)Y(0).atomic_add(v);
            }
            Scalar<int64_t> count = 0;
            while_([&] { return count < 10; },
                   [&] {
                       if_(
                           count % 2 == 0, [&] { (void)Y(1).atomic_add(1); },
                           [&] { (void)Y(2).atomic_max(cast<int32_t>(count)); });
                       count += 1;
                   });
            Z(0).store(sum);
        });
    auto out = run_both(def.capture(tensor_shape(33), tensor_shape(3), tensor_shape(1)),
                        {integer_view<int32_t>({33}, 2, 9), dense<int32_t>({3}, {0, 0, 0}),
                         output_view<int32_t>({1})});
    EXPECT_EQ(element<int32_t>(out[1], 0), element<int32_t>(out[2], 0));
    EXPECT_EQ(element<int32_t>(out[1], 1), 5);
    EXPECT_EQ(element<int32_t>(out[1], 2), 9);
}

// On the runtime: instances of a root `parallel` on several threads.
TEST(AtomicThreads, lose_no_update) {
    constexpr int64_t n = 20000, slots = 7;
    auto def = tile_kernel([=](TensorView<int32_t, 1> Count, TensorView<float, 1> Sum,
                               TensorView<half, 1> Half, TensorView<double, 1> Most,
                               TensorView<int64_t, 1> Seen) {
        for (auto &nest : parallel(shape(axis("i", n)))) {
            auto at = nest.index();
            auto ticket = Count(at % slots).atomic_add(1);
            Seen(cast<int64_t>(ticket) * slots + at % slots).store(at);
            (void)Sum(at % slots).atomic_add(1.0f);
            (void)Half(at % slots).atomic_add(cast<half>(full<float>(shape(), 0.25f)));
            (void)Most(0).atomic_max(cast<double>(at * 7 % n));
        }
    });
    for (int threads : {1, 2, 7}) {
        auto device = Device::create("cpu", {.threads = threads});
        Stream stream{device};
        auto filled = [&](auto value, int64_t size) {
            using T = decltype(value);
            auto tensor = make_tensor<T>(device, size);
            stream << tensor.copy_from(std::vector<T>(static_cast<size_t>(size), value));
            return tensor;
        };
        auto count = filled(int32_t{0}, slots);
        auto sum = filled(0.0f, slots);
        auto halves = filled(half::from_bits(0), slots);
        auto most = filled(-1.0, 1);
        auto seen = filled(int64_t{-1}, n + slots);
        auto shader = device.compile(def.capture(tensor_shape(slots), tensor_shape(slots),
                                                 tensor_shape(slots), tensor_shape(1),
                                                 tensor_shape(n + slots)));
        stream << shader(count, sum, halves, most, seen).dispatch();
        std::vector<int32_t> counts(slots);
        std::vector<float> sums(slots);
        std::vector<half> parts(slots);
        std::vector<int64_t> places(n + slots);
        std::vector<double> greatest(1);
        stream << count.copy_to(counts) << sum.copy_to(sums) << halves.copy_to(parts)
               << seen.copy_to(places) << most.copy_to(greatest) << synchronize();
        for (int64_t s = 0; s < slots; ++s) {
            auto expected = (n - s + slots - 1) / slots;
            EXPECT_EQ(counts[static_cast<size_t>(s)], expected);
            EXPECT_EQ(sums[static_cast<size_t>(s)], static_cast<float>(expected));
            // Quarters are exact up to 512, where adding one rounds to even and changes nothing.
            EXPECT_EQ(static_cast<float>(parts[static_cast<size_t>(s)]), 512.0f);
        }
        EXPECT_EQ(greatest[0], static_cast<double>(n - 1));
        std::sort(places.begin(), places.end());
        for (int64_t i = 0; i < n; ++i) {
            EXPECT_EQ(places[static_cast<size_t>(i + slots)], i);
        }
    }
}
