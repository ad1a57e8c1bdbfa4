// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile.h>

#include <gtest/gtest.h>

#include <functional>
#include <string>

// Misuse of scans by contracts and of segmented scans: whole messages.

namespace luisa::tile {
namespace {

using Input = TensorView<const float, 2>;
using Map = AffineState<float>;

/// The error of capturing `f` over a tile of 3 rows of 4; it is at a line of this file.
std::string error_of(const std::function<void(const Tile<float> &, Axis, Axis)> &f) {
    try {
        auto definition = tile_kernel([=](Input x) {
            Axis row = axis("row", 3), item = axis("item", 4);
            f(x(coord(0, 0), shape(row, item)).load(), row, item);
        });
        (void)definition.capture(tensor_shape(3, 4));
    } catch (const Error &e) {
        EXPECT_NE(std::string{e.location().file}.find("contract_scans.cpp"), std::string::npos);
        return std::string{to_string(e.kind())} + ": " + e.message();
    }
    return "no error";
}

TEST(ContractScanErrors, PoliciesThatHaveNoPrefixes) {
    for (auto policy :
         {reduction::unordered_tree, reduction::fold_right, reduction::balanced_tree}) {
        EXPECT_EQ(error_of([=](const Tile<float> &x, Axis, Axis item) {
                      (void)scan(Map{x, x}, item, affine_composition, {.policy = policy});
                  }),
                  "ValueError: scan: a scan by a contract is an ordered_tree or a fold_left; use "
                  "one of them, with .reverse to go the other way");
    }
}

TEST(ContractScanErrors, AnAxisThatTheTileLacks) {
    const std::string message = "IndexError: scan: the tile of shape [3, 4] has no such axis; scan "
                                "along one of its own";
    EXPECT_EQ(error_of([](const Tile<float> &x, Axis, Axis) {
                  (void)scan(Map{x, x}, axis("other", 4), affine_composition);
              }),
              message);
    EXPECT_EQ(error_of([](const Tile<float> &x, Axis, Axis) {
                  (void)scan(x, axis("other", 4), welford);
              }),
              message);
    EXPECT_EQ(error_of([](const Tile<float> &x, Axis, Axis) {
                  (void)segmented_scan(x, x > 0, axis("other", 4), add);
              }),
              message);
}

TEST(ContractScanErrors, FieldsOfTwoShapes) {
    EXPECT_EQ(error_of([](const Tile<float> &x, Axis, Axis item) {
                  (void)scan(Map{x, ones<float>(shape(item))}, item, affine_composition);
              }),
              "ShapeError: scan: the fields of the scanned state have shapes [3, 4] and [4]; give "
              "all of them one shape");
}

TEST(ContractScanErrors, SeedsThatDoNotFit) {
    EXPECT_EQ(error_of([](const Tile<float> &x, Axis, Axis item) {
                  ContractScanOptions<Map> options;
                  options.seed = full<Map>(shape(item), Map::identity());
                  (void)scan(Map{x, x}, item, affine_composition, options);
              }),
              "ShapeError: scan: a state of shape [4] does not fit a tile of shape [3, 4]; it has "
              "dimensions of the tile, but not the scanned one");
}

TEST(ContractScanErrors, HeadsAndMasksOfOtherDimensions) {
    EXPECT_EQ(error_of([](const Tile<float> &x, Axis, Axis item) {
                  auto heads = ones<float>(shape(axis("other", 5))) > 0;
                  (void)segmented_scan(x, heads, item, add);
              }),
              "ShapeError: scan: a tile of heads of shape [5] does not fit a tile of shape [3, 4]; "
              "its dimensions are among those of the tile");
    EXPECT_EQ(error_of([](const Tile<float> &x, Axis, Axis item) {
                  ContractScanOptions<Map> options;
                  options.mask = ones<float>(shape(axis("other", 5))) > 0;
                  (void)scan(Map{x, x}, item, affine_composition, options);
              }),
              "ShapeError: scan: a mask of shape [5] does not fit a tile of shape [3, 4]; its "
              "dimensions are among those of the tile");
}

}// namespace
}// namespace luisa::tile
