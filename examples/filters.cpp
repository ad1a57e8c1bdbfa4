// SPDX-License-Identifier: Apache-2.0
// Sobel edges and a 3×3 median of a photograph, written as PNG.
//   filters [PHOTO.jpg] [--out FOLDER] [--quick]
// The photograph is the one that `./dev setup` installs unless another is named.
#include "picture.h"

using namespace example;

namespace {

constexpr int block_y = 8, block_x = 64;

/// The nine neighbours of a block, in row-major order; zero outside.
std::vector<Tile<float>> neighbours(const TensorView<const float, 2> &X, const Scalar<int64_t> &y0,
                                    const Scalar<int64_t> &x0, Axis y, Axis x) {
    std::vector<Tile<float>> taps;
    for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
            taps.push_back(X[coord(y0 + dy, x0 + dx), shape(y, x)]);
        }
    }
    return taps;
}

auto sobel = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
    auto y = axis("y", block_y), x = axis("x", block_x);
    for (auto &nest :
         parallel(shape(ceil_div(X.extent(0), block_y), ceil_div(X.extent(1), block_x)))) {
        auto y0 = nest.index(0) * block_y, x0 = nest.index(1) * block_x;
        auto t = neighbours(X, y0, x0, y, x);
        auto gx = t[2] + t[5] * 2.0f + t[8] - t[0] - t[3] * 2.0f - t[6];
        auto gy = t[6] + t[7] * 2.0f + t[8] - t[0] - t[1] * 2.0f - t[2];
        Y(coord(y0, x0), shape(y, x)).store(sqrt(gx * gx + gy * gy));
    }
});

auto median = tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
    auto y = axis("y", block_y), x = axis("x", block_x);
    for (auto &nest :
         parallel(shape(ceil_div(X.extent(0), block_y), ceil_div(X.extent(1), block_x)))) {
        auto y0 = nest.index(0) * block_y, x0 = nest.index(1) * block_x;
        auto t = neighbours(X, y0, x0, y, x);
        auto order = [&](size_t a, size_t b) {
            auto low = minimum(t[a], t[b]), high = maximum(t[a], t[b]);
            t[a] = low;
            t[b] = high;
        };
        // Sort the rows of the window, then what can still be the middle.
        for (size_t r = 0; r < 9; r += 3) {
            order(r, r + 1);
            order(r + 1, r + 2);
            order(r, r + 1);
        }
        auto largest_of_least = maximum(maximum(t[0], t[3]), t[6]);
        auto least_of_largest = minimum(minimum(t[2], t[5]), t[8]);
        order(1, 4);
        order(4, 7);
        order(1, 4);
        auto middle = t[4];
        auto a = minimum(largest_of_least, middle), b = maximum(largest_of_least, middle);
        Y(coord(y0, x0), shape(y, x)).store(maximum(a, minimum(b, least_of_largest)));
    }
});

double at(const Tensor<float, 2> &X, int64_t y, int64_t x) {
    return y < 0 || x < 0 || y >= X.extent(0) || x >= X.extent(1) ? 0
                                                                  : static_cast<double>(X.at(y, x));
}

double max_error(const Tensor<float, 2> &X, const Tensor<float, 2> &Y, bool is_median) {
    double worst = 0;
    for (int64_t y = 0; y < X.extent(0); ++y) {
        for (int64_t x = 0; x < X.extent(1); ++x) {
            std::vector<double> t;
            for (int64_t d = 0; d < 9; ++d) {
                t.push_back(at(X, y + d / 3 - 1, x + d % 3 - 1));
            }
            double gx = t[2] + 2 * t[5] + t[8] - t[0] - 2 * t[3] - t[6],
                   gy = t[6] + 2 * t[7] + t[8] - t[0] - 2 * t[1] - t[2];
            std::sort(t.begin(), t.end());
            double expected = is_median ? t[4] : std::sqrt(gx * gx + gy * gy);
            worst = std::max(worst, std::fabs(expected - static_cast<double>(Y.at(y, x))));
        }
    }
    return worst;
}

}// namespace

int main(int argc, char **argv) {
    if (emit_tir(argc, argv)) {
        auto picture = tensor_shape(480, 641);
        return print_tir({sobel.capture(picture, picture), median.capture(picture, picture)});
    }
    std::string photo = installed_photograph(), folder = ".";
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
            folder = argv[++i];
        } else if (std::strcmp(argv[i], "--device") == 0) {
            ++i;
        } else if (argv[i][0] != '-') {
            photo = argv[i];
        }
    }
    if (photo.empty()) {
        std::fprintf(stderr, "there is no photograph here: `./dev setup` installs one (Debian's "
                             "python-matplotlib-data), or name a JPEG file\n");
        return 1;
    }
    Place place{argc, argv};
    auto &stream = place.stream();
    const auto &device = place.device(), &host = place.host();
    Report report{device};
    auto image = read_jpeg(host, photo);
    auto edges = make_tensor<float>(host, image.extent(0), image.extent(1));
    auto smooth = make_tensor<float>(host, image.extent(0), image.extent(1));
    auto size = std::to_string(image.extent(0)) + "x" + std::to_string(image.extent(1));
    auto edge_filter = device.jit(sobel);
    auto median_filter = device.jit(median);
    auto bytes = 8.0 * static_cast<double>(image.size());
    auto seconds = best_seconds(
        [&] { stream << edge_filter(place(image), place(edges)) << synchronize(); },
        quick(argc, argv));
    place.fetch();
    report.row("sobel " + size, edge_filter.shader(image, edges), seconds, bytes, "GB/s",
               max_error(image, edges, false), 1e-3);
    seconds = best_seconds(
        [&] { stream << median_filter(place(image), place(smooth)) << synchronize(); },
        quick(argc, argv));
    place.fetch();
    report.row("median 3x3 " + size, median_filter.shader(image, smooth), seconds, bytes, "GB/s",
               max_error(image, smooth, true), 0);
    std::printf("read %s\n", photo.c_str());
    write_png(folder + "/edges.png", edges);
    write_png(folder + "/median.png", smooth);
    return report.status();
}
