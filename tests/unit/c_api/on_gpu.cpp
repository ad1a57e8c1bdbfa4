// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/c_api.h>

#include <luisa/tile/dlpack.h>

#include "unit/runtime/fake_gpu.h"

#include <luisa/tile.h>

namespace luisa::tile::runtime::cuda::test {

namespace {

std::string store_source() {
    return tile_kernel([](TensorView<float, 1> Y) {
               for (auto &nest : parallel(shape(Y.extent(0)))) {
                   Y(coord(nest.index()), shape(1)).store(zeros<float>(shape(1)));
               }
           })
        .capture(tensor_shape(4))
        .ir_text();
}

}// namespace

class ApiOnGpu : public FakeGpu {
protected:
    ApiOnGpu() {
        luisa_tile_device_options options{};
        options.no_cache = 1;
        EXPECT_EQ(luisa_tile_device_create("cuda:1", &options, &device), LUISA_TILE_OK);
        EXPECT_EQ(luisa_tile_compile(device, store_source().c_str(), nullptr, &shader),
                  LUISA_TILE_OK)
            << luisa_tile_last_error();
    }
    ~ApiOnGpu() override {
        luisa_tile_shader_destroy(shader);
        luisa_tile_device_destroy(device);
    }
    luisa_tile_device *device = nullptr;
    luisa_tile_shader *shader = nullptr;
};

TEST_F(ApiOnGpu, submits_to_the_streams_of_others) {
    int32_t type = 0, number = 0;
    EXPECT_EQ(luisa_tile_device_dlpack(device, &type, &number), LUISA_TILE_OK);
    EXPECT_TRUE(type == 2 && number == 1);
    const int64_t extents[] = {4};
    luisa_tile_tensor *y = nullptr;
    ASSERT_EQ(luisa_tile_tensor_create(device, LUISA_TILE_FLOAT32, 1, extents, &y), LUISA_TILE_OK);
    const luisa_tile_argument argument{y, 0};
    int a = 0, b = 0;
    for (void *stream :
         {static_cast<void *>(nullptr), static_cast<void *>(&a), static_cast<void *>(&b)}) {
        EXPECT_EQ(luisa_tile_dispatch(shader, stream, &argument, 1), LUISA_TILE_OK)
            << luisa_tile_last_error();
        EXPECT_EQ(luisa_tile_dispatch(shader, stream, &argument, 1), LUISA_TILE_OK);
    }
    EXPECT_EQ(calls("cuLaunchKernel"), 6);
    EXPECT_EQ(calls("cuStreamCreate"), 0);
    EXPECT_EQ(calls("cuStreamSynchronize"), 0);
    EXPECT_EQ(luisa_tile_synchronize(device, &a), LUISA_TILE_OK);
    EXPECT_EQ(calls("cuStreamSynchronize"), 1);
    fail_device(ILLEGAL_ADDRESS);
    EXPECT_EQ(luisa_tile_synchronize(device, &b), LUISA_TILE_DEVICE_ERROR);
    EXPECT_NE(std::string{luisa_tile_last_error()}.find("an illegal memory access was encountered"),
              std::string::npos);
    fail_device(0);
    luisa_tile_tensor_destroy(y);
}

TEST_F(ApiOnGpu, imported_memory_goes_back_with_its_handle) {
    int deleted = 0;
    float number = 0;
    lend(&number, 4 * sizeof number);
    int64_t four = 4;
    dlpack::Managed foreign;
    foreign.context = &deleted;
    foreign.deleter = [](dlpack::Managed *m) { ++*static_cast<int *>(m->context); };
    foreign.tensor = {&number, {dlpack::CUDA, 1}, 1, {dlpack::FLOAT, 32, 1}, &four, nullptr, 0};
    luisa_tile_tensor *y = nullptr;
    ASSERT_EQ(luisa_tile_tensor_from_dlpack(device, &foreign, &y), LUISA_TILE_OK)
        << luisa_tile_last_error();
    const luisa_tile_argument argument{y, 0};
    EXPECT_EQ(luisa_tile_dispatch(shader, nullptr, &argument, 1), LUISA_TILE_OK);
    EXPECT_EQ(last_launch().first_word, reinterpret_cast<uint64_t>(&number));
    EXPECT_EQ(deleted, 0);
    luisa_tile_tensor_destroy(y);
    EXPECT_EQ(deleted, 1) << "its owner orders what follows on the stream";
}

}// namespace luisa::tile::runtime::cuda::test
