// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "example.h"

#include <jpeglib.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

// Pictures from JPEG files and to PNG files, as grey values from 0 to 255.

namespace example {

/// Where packages put a photograph; "" if none is installed.
inline std::string installed_photograph() {
    for (const char *folder :
         {"/usr/share/matplotlib", "/usr/lib/python3/dist-packages/matplotlib"}) {
        auto path = std::string{folder} + "/mpl-data/sample_data/grace_hopper.jpg";
        if (std::filesystem::exists(path)) {
            return path;
        }
    }
    return "";
}

/// The brightness of a JPEG picture. Ends the program with a message if it cannot be read.
inline Tensor<float, 2> read_jpeg(const Device &device, const std::string &path) {
    auto *file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) {
        std::fprintf(stderr, "cannot open %s\n", path.c_str());
        std::exit(1);
    }
    jpeg_decompress_struct reader{};
    jpeg_error_mgr errors{};
    reader.err = jpeg_std_error(&errors);// prints and exits
    jpeg_create_decompress(&reader);
    jpeg_stdio_src(&reader, file);
    jpeg_read_header(&reader, TRUE);
    reader.out_color_space = JCS_GRAYSCALE;
    jpeg_start_decompress(&reader);
    auto image = make_tensor<float>(device, reader.output_height, reader.output_width);
    std::vector<JSAMPLE> row(reader.output_width);
    for (int64_t y = 0; y < image.extent(0); ++y) {
        auto *target = row.data();
        jpeg_read_scanlines(&reader, &target, 1);
        for (int64_t x = 0; x < image.extent(1); ++x) {
            image.at(y, x) = static_cast<float>(row[static_cast<size_t>(x)]);
        }
    }
    jpeg_finish_decompress(&reader);
    jpeg_destroy_decompress(&reader);
    std::fclose(file);
    return image;
}

/// One chunk of a PNG file: length, name, data and their checksum.
inline void put_chunk(std::ofstream &file, const char *name, const std::vector<uint8_t> &data) {
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

/// Writes values, clamped to 0…255, as a grey PNG. Says where; ends the program if it cannot.
inline void write_png(const std::string &path, const Tensor<float, 2> &image) {
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
    file.close();
    if (!file) {
        std::fprintf(stderr, "cannot write %s\n", path.c_str());
        std::exit(1);
    }
    std::printf("wrote %s\n", std::filesystem::canonical(path).c_str());
}

}// namespace example
