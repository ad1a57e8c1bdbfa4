// SPDX-License-Identifier: Apache-2.0
// Sobel edges and a 3×3 median of a grey picture, written as PNG. Reads a binary PGM named on the command line, or
// draws a picture of its own.
#include "example.h"

#include <zlib.h>

#include <fstream>

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

void put_chunk(std::ofstream &file, const char *name, const std::vector<uint8_t> &data) {
    auto word = [&](uint32_t v) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            file.put(static_cast<char>(v >> shift));
        }
    };
    word(static_cast<uint32_t>(data.size()));
    file.write(name, 4);
    file.write(reinterpret_cast<const char *>(data.data()),
               static_cast<std::streamsize>(data.size()));
    auto crc = crc32(0, reinterpret_cast<const Bytef *>(name), 4);
    word(static_cast<uint32_t>(crc32(crc, data.data(), static_cast<uInt>(data.size()))));
}

void write_png(const std::string &path, const Tensor<float, 2> &image) {
    std::vector<uint8_t> raw;
    for (int64_t y = 0; y < image.extent(0); ++y) {
        raw.push_back(0);
        for (int64_t x = 0; x < image.extent(1); ++x) {
            raw.push_back(static_cast<uint8_t>(std::clamp(image.at(y, x), 0.0f, 255.0f)));
        }
    }
    auto size = compressBound(raw.size());
    std::vector<uint8_t> packed(size);
    compress(packed.data(), &size, raw.data(), raw.size());
    packed.resize(size);
    std::ofstream file{path, std::ios::binary};
    file.write("\x89PNG\r\n\x1a\n", 8);
    std::vector<uint8_t> header(13);
    auto put = [&](size_t offset, int64_t v) {
        for (size_t i = 0; i < 4; ++i) {
            header[offset + i] = static_cast<uint8_t>(v >> (24 - 8 * i));
        }
    };
    put(0, image.extent(1));
    put(4, image.extent(0));
    header[8] = 8;
    put_chunk(file, "IHDR", header);
    put_chunk(file, "IDAT", packed);
    put_chunk(file, "IEND", {});
    std::printf("wrote %s\n", path.c_str());
}

Tensor<float, 2> read_pgm(const Device &device, const char *path) {
    std::ifstream file{path, std::ios::binary};
    std::string magic;
    int64_t width = 0, height = 0, most = 0;
    file >> magic >> width >> height >> most;
    file.get();
    if (magic != "P5" || !file || width < 1 || height < 1) {
        std::fprintf(stderr, "%s is no binary PGM\n", path);
        std::exit(1);
    }
    auto image = make_tensor<float>(device, height, width);
    for (int64_t i = 0; i < image.size(); ++i) {
        image.data()[i] = static_cast<float>(static_cast<uint8_t>(file.get()));
    }
    return image;
}

/// Rings and a slope with pepper noise.
Tensor<float, 2> draw(const Device &device) {
    auto image = make_tensor<float>(device, 480, 641);
    std::mt19937 engine{5};
    for (int64_t y = 0; y < image.extent(0); ++y) {
        for (int64_t x = 0; x < image.extent(1); ++x) {
            auto dy = static_cast<double>(y - 240), dx = static_cast<double>(x - 320);
            auto value = 128 + 90 * std::sin((dx * dx + dy * dy) / 900) + 0.05 * dx;
            image.at(y, x) = engine() % 50 == 0 ? 0 : static_cast<float>(static_cast<int>(value));
        }
    }
    return image;
}

}// namespace

int main(int argc, char **argv) {
    auto device = Device::create("cpu");
    Stream stream{device};
    Report report{device};
    bool named = argc > 1 && argv[1][0] != '-';
    auto image = named ? read_pgm(device, argv[1]) : draw(device);
    auto edges = make_tensor<float>(device, image.extent(0), image.extent(1));
    auto smooth = make_tensor<float>(device, image.extent(0), image.extent(1));
    auto size = std::to_string(image.extent(0)) + "x" + std::to_string(image.extent(1));
    auto edge_filter = jit(device, sobel);
    auto median_filter = jit(device, median);
    auto bytes = 8.0 * static_cast<double>(image.size());
    auto seconds = best_seconds([&] { stream << edge_filter(image, edges); }, quick(argc, argv));
    report.row("sobel " + size, edge_filter.shader(image, edges), seconds, bytes, "GB/s",
               max_error(image, edges, false), 1e-3);
    seconds = best_seconds([&] { stream << median_filter(image, smooth); }, quick(argc, argv));
    report.row("median 3x3 " + size, median_filter.shader(image, smooth), seconds, bytes, "GB/s",
               max_error(image, smooth, true), 0);
    write_png("edges.png", edges);
    write_png("median.png", smooth);
    return report.status();
}
