// SPDX-License-Identifier: Apache-2.0
#include "layout/points.h"

#include <luisa/tile/layout_draw.h>

#include <algorithm>

namespace luisa::tile {

namespace {

constexpr int64_t most_cells = 16384;
constexpr int64_t cell_height = 26, margin = 46;

std::string escaped(const std::string &text) {
    std::string out;
    for (char c : text) {
        out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    }
    return out;
}

/// Sixteen colours that black text is readable on; neighbours differ in hue and lightness.
std::string colour(int64_t image) {
    auto i = ((image % 16) + 16) % 16;
    return "hsl(" + std::to_string(i * 135 % 360) + " 70% " + std::to_string(i % 2 ? 88 : 76) +
           "%)";
}

std::string number(const char *name, int64_t value) {
    return std::string{" "} + name + "=\"" + std::to_string(value) + "\"";
}

std::string text_at(int64_t x, int64_t y, const std::string &text, const char *style) {
    return "<text" + number("x", x) + number("y", y) + " class=\"" + style + "\">" + escaped(text) +
           "</text>\n";
}

/// What is written in a cell: one number, or a tuple.
std::string cell_text(const std::optional<IndexPoint> &image) {
    return !image               ? ""
           : image->size() == 1 ? std::to_string((*image)[0])
                                : core::tuple_text(*image);
}

}// namespace

std::string draw_svg(const IndexMap &map, const std::string &title) {
    const auto &extents = map.domain().extents();
    auto count = map.domain().box_size();
    if (!count || *count > most_cells) {
        throw_error(ErrorKind::VALUE, "draw_svg: more than " + std::to_string(most_cells) +
                                          " points: " + map.domain().text());
    }
    int64_t columns = extents.empty() ? 1 : extents.back();
    int64_t rows = columns == 0 ? 0 : *count / columns;
    std::vector<std::optional<IndexPoint>> images;
    size_t widest = 2;
    IndexPoint at(extents.size(), 0);
    for (int64_t i = 0; i < *count; ++i) {
        images.push_back(map.at(at));
        widest = std::max(widest, cell_text(images.back()).size());
        core::advance(at, extents);
    }
    auto cell_width = static_cast<int64_t>(widest) * 8 + 12;
    auto name = title.empty() ? map.text() : title;
    std::string out =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"" +
        number("width", margin + columns * cell_width + 8) +
        number("height", margin + rows * cell_height + 8) + ">\n<title>" + escaped(name) +
        "</title>\n<style>text{font:12px monospace;text-anchor:middle}.axis{fill:#555}"
        "rect{stroke:#444;stroke-width:.5}</style>\n"
        "<pattern id=\"none\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
        "<path d=\"M0 6L6 0\" stroke=\"#999\"/></pattern>\n";
    for (int64_t c = 0; c < columns; ++c) {
        out += text_at(margin + c * cell_width + cell_width / 2, margin - 8, std::to_string(c),
                       "axis");
    }
    at.assign(extents.size(), 0);
    for (int64_t r = 0; r < rows; ++r) {
        IndexPoint row{at.begin(), at.empty() ? at.end() : at.end() - 1};
        auto y = margin + r * cell_height;
        out += text_at(margin / 2, y + 17,
                       row.size() == 1 ? std::to_string(row[0])
                       : row.empty()   ? ""
                                       : core::tuple_text(row),
                       "axis");
        for (int64_t c = 0; c < columns; ++c) {
            const auto &image = images[static_cast<size_t>(r * columns + c)];
            auto fill = image ? colour(image->empty() ? 0 : (*image)[0])
                              : std::string{"url(#none)"};
            out += "<rect" + number("x", margin + c * cell_width) + number("y", y) +
                   number("width", cell_width) + number("height", cell_height) + " fill=\"" + fill +
                   "\"/>\n" +
                   text_at(margin + c * cell_width + cell_width / 2, y + 17, cell_text(image),
                           "place");
            core::advance(at, extents);
        }
    }
    return out + "</svg>\n";
}

}// namespace luisa::tile
