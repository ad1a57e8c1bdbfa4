// SPDX-License-Identifier: Apache-2.0
// Cross-entropy with ignored labels: log-sum-exp of a row minus the logit that a gather picks.
#include "example.h"

using namespace example;

namespace {

auto cross_entropy = tile_kernel([](TensorView<const float, 2> X,
                                    TensorView<const int64_t, 1> labels,
                                    TensorView<float, 1> loss) {
    auto c = axis("class", X.extent(1));
    for (auto &nest : parallel(shape(X.extent(0)))) {
        auto row = nest.index();
        auto x = X[coord(row, 0), shape(1, c)];
        auto label = labels[coord(row), shape(1)];
        auto top = reduce(x, c, maximum);
        auto total = top + log(reduce(exp(x - top), c, add));
        auto picked = gather(x, label, c, 0.0f);
        // A negative label does not count.
        loss(coord(row), shape(1)).store(ite(label >= 0, total - picked, 0.0f));
    }
});

double max_error(const Tensor<float, 2> &X, const Tensor<int64_t, 1> &labels,
                 const Tensor<float, 1> &loss) {
    double worst = 0;
    for (int64_t r = 0; r < X.extent(0); ++r) {
        double top = -1e30, sum = 0;
        for (int64_t c = 0; c < X.extent(1); ++c) {
            top = std::max<double>(top, X.at(r, c));
        }
        for (int64_t c = 0; c < X.extent(1); ++c) {
            sum += std::exp(static_cast<double>(X.at(r, c)) - top);
        }
        auto label = labels.at(r);
        double expected = label < 0 ? 0 : top + std::log(sum) - static_cast<double>(X.at(r, label));
        worst = std::max(worst, std::fabs(expected - static_cast<double>(loss.at(r))));
    }
    return worst;
}

}// namespace

int main(int argc, char **argv) {
    if (emit_tir(argc, argv)) {
        return print_tir(
            {cross_entropy.capture(tensor_shape(257, 1009), tensor_shape(257), tensor_shape(257))});
    }
    Place place{argc, argv};
    auto &stream = place.stream();
    const auto &device = place.device(), &host = place.host();
    Report report{device};
    auto entropy = device.jit(cross_entropy);
    for (auto [rows, classes] : {std::array<int64_t, 2>{64, 32000}, {257, 1009}, {5, 7}}) {
        auto X = make_tensor<float>(host, rows, classes);
        auto labels = make_tensor<int64_t>(host, rows);
        auto loss = make_tensor<float>(host, rows);
        fill(X, 1);
        std::mt19937 engine{2};
        for (int64_t i = 0; i < rows; ++i) {
            labels.at(i) = i % 5 == 3 ? -1 : static_cast<int64_t>(engine()) % classes;
        }
        auto seconds = best_seconds(
            [&] { stream << entropy(place(X), place(labels), place(loss)) << synchronize(); },
            quick(argc, argv));
        place.fetch();
        report.row("cross entropy " + std::to_string(rows) + "x" + std::to_string(classes),
                   entropy.shader(X, labels, loss), seconds, 4.0 * static_cast<double>(X.size()),
                   "GB/s", max_error(X, labels, loss), 1e-5);
    }
    return report.status();
}
