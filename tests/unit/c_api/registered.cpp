// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/c_api.h>
#include <luisa/tile/registry.h>

#include <luisa/tile.h>

#include <gtest/gtest.h>

namespace luisa::tile::test {

namespace {

const Registered adding{"test.add", tile_kernel([](TensorView<float, 2> Y, Scalar<float> summand) {
                            auto c = axis("c", Y.extent(1));
                            for (auto &nest : parallel(shape(Y.extent(0)))) {
                                auto at = coord(nest.index(), 0);
                                Y(at, shape(1, c)).store(Y[at, shape(1, c)] + summand);
                            }
                        })};

struct Tensor2 {
    luisa_tile_tensor *handle = nullptr;
    Tensor2(luisa_tile_device *device, float *data, int64_t rows, int64_t columns, int64_t stride) {
        const int64_t extents[] = {rows, columns}, strides[] = {stride, 1};
        EXPECT_EQ(luisa_tile_tensor_wrap(device, LUISA_TILE_FLOAT32, 2, extents, strides, data, 0,
                                         &handle),
                  LUISA_TILE_OK);
    }
    ~Tensor2() { luisa_tile_tensor_destroy(handle); }
};

}// namespace

TEST(ApiRegistered, lists_and_runs_kernels_for_the_extents_of_each_call) {
    ASSERT_EQ(luisa_tile_registered_count(), 1u);
    EXPECT_STREQ(luisa_tile_registered_name(0), "test.add");
    EXPECT_EQ(luisa_tile_registered_name(1), nullptr);
    size_t count = 0;
    EXPECT_EQ(luisa_tile_registered_parameter_count("test.add", &count), LUISA_TILE_OK);
    EXPECT_EQ(count, 2u);
    luisa_tile_parameter p;
    EXPECT_EQ(luisa_tile_registered_parameter("test.add", 0, &p), LUISA_TILE_OK);
    EXPECT_TRUE(p.is_view && !p.read_only && p.rank == 2 && p.extents[1] == -1 &&
                p.extents[2] == 0);
    EXPECT_EQ(luisa_tile_registered_parameter("test.add", 2, &p), LUISA_TILE_INDEX_ERROR);

    luisa_tile_device *device = nullptr;
    luisa_tile_device_options options{};
    options.threads = 1;
    options.no_cache = 1;
    ASSERT_EQ(luisa_tile_device_create("cpu", &options, &device), LUISA_TILE_OK);
    float y[12] = {};
    uint64_t one = 0;
    ASSERT_EQ(luisa_tile_scalar_from_double(LUISA_TILE_FLOAT32, 1, &one), LUISA_TILE_OK);
    auto run = [&](int64_t rows, int64_t columns, int64_t stride) {
        Tensor2 tensor{device, y, rows, columns, stride};
        const luisa_tile_argument arguments[] = {{tensor.handle, 0}, {nullptr, one}};
        return luisa_tile_run_registered(device, "test.add", nullptr, arguments, 2);
    };
    EXPECT_EQ(run(3, 4, 4), LUISA_TILE_OK) << luisa_tile_last_error();
    EXPECT_EQ(run(2, 2, 6), LUISA_TILE_OK) << luisa_tile_last_error();
    EXPECT_EQ(run(2, 2, 6), LUISA_TILE_OK) << luisa_tile_last_error();
    const float expected[12] = {3, 3, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1};
    EXPECT_TRUE(std::equal(y, y + 12, expected));
    EXPECT_EQ(luisa_tile_run_registered(device, "test.sub", nullptr, nullptr, 0),
              LUISA_TILE_VALUE_ERROR);
    EXPECT_STREQ(luisa_tile_last_error(),
                 "ValueError: no kernel is registered as 'test.sub'; there are 'test.add'");
    EXPECT_EQ(luisa_tile_run_registered(device, "test.add", nullptr, nullptr, 0),
              LUISA_TILE_CALL_ERROR);
    EXPECT_STREQ(luisa_tile_last_error(),
                 "CallError: luisa_tile_run_registered: the kernel takes 2 arguments, got 0");
    luisa_tile_device_destroy(device);
}

}// namespace luisa::tile::test
