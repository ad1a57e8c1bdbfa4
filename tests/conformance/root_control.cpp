// SPDX-License-Identifier: Apache-2.0
#include "device_ops.h"

#include <luisa/tile/functions.h>

#include <functional>
#include <numeric>

// Nests at the root of a kernel, in sequence and inside one another, with extents that each launch sets.

namespace luisa::tile::test {

namespace {

using Run = std::function<void(const Device &, Stream &, const Place &)>;

void everywhere(const Run &run) {
    for (const auto &place : places) {
        auto device = Device::create(place.device, {.threads = place.threads});
        Stream stream{device};
        SCOPED_TRACE(std::string{place.device} + " " + std::to_string(place.threads));
        run(device, stream, place);
    }
}

std::vector<int64_t> values_of(const Tensor<int64_t, 1> &x) {
    return {x.data(), x.data() + x.extent(0)};
}

}// namespace

TEST(RootControl, a_second_nest_sees_all_effects_of_the_first) {
    auto kernel = tile_kernel([](TensorView<const int64_t, 1> X, TensorView<int64_t, 1> Between,
                                 TensorView<int64_t, 1> Y) {
                      auto i = axis("i", 64);
                      for (auto &nest : parallel(shape(ceil_div(X.extent(0), 64)))) {
                          auto at = coord(nest.index() * 64);
                          Between(at, shape(i)).store(X[at, shape(i)] * 3);
                      }
                      for (auto &nest : parallel(shape(X.extent(0)))) {
                          Scalar<int64_t> n{X.extent(0).value({}), {}};
                          auto p = nest.index();
                          // From the other end, and from a neighbour: other instances wrote both.
                          Y(p).store(Between(n - 1 - p).load() + Between((p + 1) % n).load());
                      }
                  })
                      .capture(tensor_shape(dynamic("n")), tensor_shape(dynamic("n")),
                               tensor_shape(dynamic("n")));
    everywhere([&](const Device &device, Stream &stream, const Place &place) {
        auto shader = device.compile(kernel);
        for (auto n : lengths(place.device)) {
            auto x = whole_numbers<int64_t>(device, n, 4), y = make_tensor<int64_t>(device, n);
            auto between = make_tensor<int64_t>(device, n);
            stream << shader(x, between, y).dispatch() << synchronize();
            for (int64_t p = 0; p < n; ++p) {
                ASSERT_EQ(y.at(p), 3 * (x.at(n - 1 - p) + x.at((p + 1) % n))) << n << " " << p;
            }
        }
    });
}

TEST(RootControl, serial_around_parallel_orders_whole_sweeps) {
    auto kernel =
        tile_kernel([](TensorView<int64_t, 1> A, TensorView<int64_t, 1> B, Scalar<int64_t> sweeps) {
            Scalar<int64_t> n{A.extent(0).value({}), {}};
            for (auto &sweep : serial(range(0, sweeps, 1))) {
                for (auto &nest : parallel(shape(A.extent(0)))) {
                    auto p = nest.index();
                    B(p).store(A((p + 1) % n).load() + A(n - 1 - p).load());
                }
                for (auto &nest : parallel(shape(A.extent(0)))) {
                    auto p = nest.index();
                    A(p).store(B((p + n / 2) % n).load() + sweep.index());
                }
            }
        }).capture(tensor_shape(dynamic("n")), tensor_shape(dynamic("n")));
    everywhere([&](const Device &device, Stream &stream, const Place &) {
        auto shader = device.compile(kernel);
        for (int64_t n : {0, 1, 17, 1000}) {
            for (int64_t sweeps : {0, 1, 5}) {
                auto a = whole_numbers<int64_t>(device, n, 4), b = make_tensor<int64_t>(device, n);
                auto want = values_of(a), other = want;
                for (int64_t s = 0; s < sweeps; ++s) {
                    auto at = [&](int64_t p) { return static_cast<size_t>(p); };
                    for (int64_t p = 0; p < n; ++p) {
                        other[at(p)] = want[at((p + 1) % n)] + want[at(n - 1 - p)];
                    }
                    for (int64_t p = 0; p < n; ++p) {
                        want[at(p)] = other[at((p + n / 2) % n)] + s;
                    }
                }
                stream << shader(a, b, sweeps).dispatch() << synchronize();
                ASSERT_EQ(values_of(a), want) << n << " " << sweeps;
            }
        }
    });
}

TEST(RootControl, every_nest_takes_runtime_extents) {
    auto kernel = tile_kernel([](TensorView<const int64_t, 2> X, TensorView<int64_t, 1> Sums,
                                 TensorView<int64_t, 1> Carried, TensorView<int64_t, 1> Piped,
                                 TensorView<int64_t, 1> Total) {
                      auto c = axis("c", 4096);
                      for (auto &row : parallel(shape(X.extent(0)))) {
                          auto r = row.index();
                          Sums(r).store(reduce(X[coord(r, 0), shape(1, c)], c, add));
                      }
                      Scalar<int64_t> sum = 0, last = 0;
                      for (auto &row : reduce(shape(X.extent(0)))) {
                          sum += Sums(row.index()).load();
                      }
                      for (auto &row : serial(shape(X.extent(0)))) {
                          last = last * 3 + Sums(row.index()).load();
                          Carried(row.index()).store(last);
                      }
                      for (auto &row : pipeline(range(0, X.extent(0), 1))) {
                          Piped(row.index()).store(Carried(row.index()).load() + sum);
                      }
                      Total(0).store(sum);
                  })
                      .capture(tensor_shape(dynamic("s"), 4096), tensor_shape(dynamic("s")),
                               tensor_shape(dynamic("s")), tensor_shape(dynamic("s")),
                               tensor_shape(1));
    everywhere([&](const Device &device, Stream &stream, const Place &) {
        auto shader = device.compile(kernel);
        for (int64_t n : {0, 1, 3, 16, 29}) {
            auto x = make_tensor<int64_t>(device, n, 4096);
            std::iota(x.data(), x.data() + x.size(), int64_t{-1000});
            auto sums = make_tensor<int64_t>(device, n), carried = make_tensor<int64_t>(device, n);
            auto piped = make_tensor<int64_t>(device, n), total = make_tensor<int64_t>(device, 1);
            stream << shader(x, sums, carried, piped, total).dispatch() << synchronize();
            int64_t all = 0;
            uint64_t last = 0;
            for (int64_t i = 0; i < x.size(); ++i) {
                all += x.data()[i];
            }
            ASSERT_EQ(total.at(0), all) << n;
            for (int64_t r = 0; r < n; ++r) {
                auto sum = std::accumulate(&x.at(r, 0), &x.at(r, 0) + 4096, int64_t{0});
                last = last * 3 + static_cast<uint64_t>(sum);
                ASSERT_EQ(sums.at(r), sum);
                ASSERT_EQ(static_cast<uint64_t>(carried.at(r)), last) << n << " " << r;
                ASSERT_EQ(static_cast<uint64_t>(piped.at(r)), last + static_cast<uint64_t>(all));
            }
        }
    });
}

TEST(RootControl, equal_names_of_extents_are_checked_at_launch) {
    auto kernel = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
                      auto c = axis("c", 4096);
                      for (auto &row : parallel(shape(X.extent(0)))) {
                          auto at = coord(row.index(), 0);
                          Y(at, shape(1, c)).store(X[at, shape(1, c)] + 1);
                      }
                  }).capture(tensor_shape(dynamic("s"), 4096), tensor_shape(dynamic("s"), 4096));
    everywhere([&](const Device &device, Stream &stream, const Place &) {
        auto shader = device.compile(kernel);
        auto x = make_tensor<float>(device, 2, 4096), y = make_tensor<float>(device, 3, 4096);
        int at = __LINE__ + 2;
        try {
            stream << shader(x, y).dispatch();
            FAIL() << "accepted";
        } catch (const CallError &error) {
            EXPECT_EQ(error.what(), "root_control.cpp:" + std::to_string(at) +
                                        ": CallError: extent 's' is 2 in argument 0 and 3 in "
                                        "argument 1");
        }
    });
}

}// namespace luisa::tile::test
