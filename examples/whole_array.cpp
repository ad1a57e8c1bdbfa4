// SPDX-License-Identifier: Apache-2.0
// A whole array: its sum, running sums and order, and a program of one's own that normalises it.
#include "example.h"

#include <numeric>

using namespace example;

namespace {

/// y = x / the largest of x, by two kernels and a temporary.
auto scale_by = tile_kernel(
    [](TensorView<const float, 1> X, TensorView<const float, 1> Largest, TensorView<float, 1> Y) {
        auto i = axis("i", 1024);
        for (auto &nest : parallel(shape(ceil_div(X.extent(0), 1024)))) {
            auto at = coord(nest.index() * 1024);
            Y(at, shape(i)).store(X[at, shape(i)] / Largest(0).load());
        }
    });

auto normalise = tile_program(
    [](Commands &run, ProgramTensor<const float, 1> x, ProgramTensor<float, 1> y) {
        run.expect_extent(y, 0, x.extent(0));
        auto largest = run.temporary<float>(1);
        run(device_reduce<float>(maximum))(x, largest);
        run(scale_by)(x, largest, y);
    },
    {.name = "normalise", .parameters = {"x", "y"}});

class Checks {
public:
    void row(const char *name, double seconds, int64_t n, bool right) {
        _right &= right;
        std::printf("%-14s %9.1f us %8.2f ns an element%s\n", name, seconds * 1e6,
                    seconds * 1e9 / static_cast<double>(n), right ? "" : "  WRONG");
    }
    [[nodiscard]] int status() const { return _right ? 0 : 1; }

private:
    bool _right = true;
};

}// namespace

int main(int argc, char **argv) {
    if (emit_tir(argc, argv)) {
        return print_tir({scale_by.capture(tensor_shape(dynamic("n")), tensor_shape(1),
                                           tensor_shape(dynamic("n")))});
    }
    bool is_quick = quick(argc, argv);
    int64_t n = is_quick ? 10001 : 1000001;
    Place place{argc, argv};
    auto &stream = place.stream();
    const auto &device = place.device(), &host = place.host();
    std::printf("%s\n%lld elements\n", device.description().c_str(), static_cast<long long>(n));

    auto x = make_tensor<float>(host, n), y = make_tensor<float>(host, n);
    for (int64_t i = 0; i < n; ++i) {
        x.at(i) = static_cast<float>(i * 7919 % 1009);// whole: all sums below are exact in double
    }
    Checks checks;
    auto time = [&](const auto &run) {
        auto seconds = best_seconds(run, is_quick);
        place.fetch();
        return seconds;
    };

    auto sum = device.jit(device_reduce<float>(add));
    auto total = make_tensor<float>(host, 1);
    auto seconds = time([&] { stream << sum(place(x), place(total)).dispatch() << synchronize(); });
    auto want = std::accumulate(x.data(), x.data() + n, 0.0);
    checks.row("sum", seconds, n, std::abs(total.at(0) - want) <= want * 1e-6);

    auto largest = device.jit(device_scan<float>(maximum));
    seconds = time([&] { stream << largest(place(x), place(y)).dispatch() << synchronize(); });
    std::vector<float> running(static_cast<size_t>(n));
    std::partial_sum(x.data(), x.data() + n, running.begin(),
                     [](float a, float b) { return std::max(a, b); });
    checks.row("running max", seconds, n, std::equal(running.begin(), running.end(), y.data()));

    auto sorted = device.jit(device_sort<float>());
    auto places = make_tensor<int64_t>(host, n);
    seconds = time(
        [&] { stream << sorted(place(x), place(y), place(places)).dispatch() << synchronize(); });
    bool right = std::is_sorted(y.data(), y.data() + n);
    for (int64_t i = 0; i < n; ++i) {
        right &= x.at(places.at(i)) == y.at(i);
    }
    checks.row("sort", seconds, n, right);

    auto top = device.jit(device_topk<float>());
    auto best = make_tensor<float>(host, 10);
    auto where = make_tensor<int64_t>(host, 10);
    seconds = time(
        [&] { stream << top(place(x), place(best), place(where)).dispatch() << synchronize(); });
    right = true;
    for (int64_t i = 0; i < 10; ++i) {
        right &= best.at(i) == y.at(n - 1 - i);
    }
    checks.row("largest ten", seconds, n, right);

    auto normal = device.jit(normalise);
    seconds = time([&] { stream << normal(place(x), place(y)).dispatch() << synchronize(); });
    checks.row("normalise", seconds, n, *std::max_element(y.data(), y.data() + n) == 1);
    return checks.status();
}
