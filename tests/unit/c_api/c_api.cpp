// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/c_api.h>

#include <luisa/tile/dlpack.h>
#include <luisa/tile/registry.h>

#include "unit/runtime/fake_gpu.h"

#include <luisa/tile.h>

#include <cmath>
#include <thread>
#include <vector>

namespace luisa::tile::test {

namespace {

/// scale as TileIR: rows of a runtime number.
std::string scale_source() {
    auto kernel = tile_kernel(
        [](TensorView<const float, 2> X, TensorView<float, 2> Y, Scalar<float> factor) {
            auto c = axis("c", 4);
            for (auto &nest : parallel(shape(X.extent(0)))) {
                auto at = coord(nest.index(), 0);
                Y(at, shape(1, c)).store(X[at, shape(1, c)] * factor);
            }
        },
        {.name = "scale"});
    return kernel.capture(tensor_shape(dynamic("n"), 4), tensor_shape(dynamic("n"), 4)).ir_text();
}

struct Api : testing::Test {
    explicit Api(const char *name = "cpu") {
        luisa_tile_device_options options{};
        options.threads = 1;
        options.no_cache = 1;
        EXPECT_EQ(luisa_tile_device_create(name, &options, &device), LUISA_TILE_OK)
            << luisa_tile_last_error();
        EXPECT_EQ(luisa_tile_compile(device, scale_source().c_str(), "scale.tir", &shader),
                  LUISA_TILE_OK)
            << luisa_tile_last_error();
    }
    ~Api() override {
        for (auto *t : tensors) {
            luisa_tile_tensor_destroy(t);
        }
        luisa_tile_shader_destroy(shader);
        luisa_tile_device_destroy(device);
    }
    luisa_tile_tensor *wrap(float *data, int64_t rows, int64_t columns = 4, bool read_only = false,
                            luisa_tile_type type = LUISA_TILE_FLOAT32) {
        const int64_t extents[] = {rows, columns};
        luisa_tile_tensor *t = nullptr;
        EXPECT_EQ(luisa_tile_tensor_wrap(device, type, 2, extents, nullptr, data, read_only, &t),
                  LUISA_TILE_OK);
        tensors.push_back(t);
        return t;
    }
    uint64_t number(double value) {
        uint64_t bits = 0;
        EXPECT_EQ(luisa_tile_scalar_from_double(LUISA_TILE_FLOAT32, value, &bits), LUISA_TILE_OK);
        return bits;
    }
    luisa_tile_status run(luisa_tile_tensor *x, luisa_tile_tensor *y, double factor = 2,
                          void *stream = nullptr) {
        const luisa_tile_argument arguments[] = {{x, 0}, {y, 0}, {nullptr, number(factor)}};
        return luisa_tile_dispatch(shader, stream, arguments, 3);
    }
    luisa_tile_device *device = nullptr;
    luisa_tile_shader *shader = nullptr;
    std::vector<luisa_tile_tensor *> tensors;
};
struct ApiOnInterpreter : Api {
    ApiOnInterpreter() : Api{"interpreter"} {}
};
struct ApiOnEmulator : Api {
    ApiOnEmulator() : Api{"cuda-emulator"} {}
};

void expect_error(luisa_tile_status status, luisa_tile_status kind, const std::string &text) {
    EXPECT_EQ(status, kind) << luisa_tile_status_name(status);
    EXPECT_EQ(luisa_tile_last_error(), text);
}

template<class F>
void check_scaling(F run, luisa_tile_tensor *x, luisa_tile_tensor *y, float *out) {
    ASSERT_EQ(run(x, y), LUISA_TILE_OK) << luisa_tile_last_error();
    for (int i = 0; i < 12; ++i) {
        EXPECT_EQ(out[i], 2.0f * static_cast<float>(i));
    }
}

}// namespace

TEST_F(Api, compiles_describes_and_runs) {
    const char *text = nullptr;
    EXPECT_EQ(luisa_tile_shader_name(shader, &text), LUISA_TILE_OK);
    EXPECT_STREQ(text, "scale");
    EXPECT_EQ(luisa_tile_shader_plan(shader, &text), LUISA_TILE_OK);
    EXPECT_NE(std::string{text}.find("plan @scale cpu"), std::string::npos);
    EXPECT_EQ(luisa_tile_device_description(device, &text), LUISA_TILE_OK);
    EXPECT_EQ(std::string{text}.substr(0, 5), "cpu: ");
    size_t count = 0;
    EXPECT_EQ(luisa_tile_shader_parameter_count(shader, &count), LUISA_TILE_OK);
    ASSERT_EQ(count, 3u);
    luisa_tile_parameter p;
    EXPECT_EQ(luisa_tile_shader_parameter(shader, 0, &p), LUISA_TILE_OK);
    EXPECT_TRUE(p.is_view && p.read_only && p.rank == 2 && p.type == LUISA_TILE_FLOAT32);
    EXPECT_EQ(p.extents[0], -1);
    EXPECT_STREQ(p.extent_names[0], "n");
    EXPECT_EQ(p.extents[1], 4);
    EXPECT_EQ(luisa_tile_shader_parameter(shader, 2, &p), LUISA_TILE_OK);
    EXPECT_FALSE(p.is_view);
    expect_error(luisa_tile_shader_parameter(shader, 3, &p), LUISA_TILE_INDEX_ERROR,
                 "IndexError: luisa_tile_shader_parameter: parameter 3 of a kernel that has 3");
}

TEST_F(Api, runs_on_the_cpu) {
    float x[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, y[12] = {};
    check_scaling([&](auto *a, auto *b) { return run(a, b); }, wrap(x, 3), wrap(y, 3), y);
    EXPECT_EQ(run(wrap(x, 0), wrap(y, 0)), LUISA_TILE_OK) << luisa_tile_last_error();
    EXPECT_EQ(luisa_tile_synchronize(device, nullptr), LUISA_TILE_OK);
}
TEST_F(ApiOnInterpreter, runs_there) {
    float x[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, y[12] = {};
    check_scaling([&](auto *a, auto *b) { return run(a, b); }, wrap(x, 3), wrap(y, 3), y);
}
TEST_F(ApiOnEmulator, runs_there) {
    float x[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, y[12] = {};
    check_scaling([&](auto *a, auto *b) { return run(a, b); }, wrap(x, 3), wrap(y, 3), y);
}

TEST_F(Api, handles_may_be_destroyed_in_any_order) {
    float x[4] = {1, 2, 3, 4}, y[4] = {};
    auto *a = wrap(x, 1), *b = wrap(y, 1);
    luisa_tile_device_destroy(device);
    device = nullptr;
    EXPECT_EQ(run(a, b), LUISA_TILE_OK) << luisa_tile_last_error();
    EXPECT_EQ(y[3], 8.0f);
}

TEST_F(Api, mistakes_have_a_status_and_a_text) {
    float x[12] = {}, y[12] = {};
    luisa_tile_shader *other = nullptr;
    expect_error(luisa_tile_compile(device, "kernel scale", "bad.tir", &other),
                 LUISA_TILE_PARSE_ERROR,
                 "bad.tir:1: ParseError: bad.tir:1:8: expected a function name such as @gemm");
    EXPECT_EQ(other, nullptr);
    expect_error(luisa_tile_compile_file(device, "/nowhere/x.tir", &other), LUISA_TILE_VALUE_ERROR,
                 "ValueError: cannot read '/nowhere/x.tir': No such file or directory");
    expect_error(luisa_tile_dispatch(shader, nullptr, nullptr, 0), LUISA_TILE_CALL_ERROR,
                 "CallError: luisa_tile_dispatch: the kernel takes 3 arguments, got 0");
    expect_error(luisa_tile_dispatch(nullptr, nullptr, nullptr, 0), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_dispatch: shader is null");
    expect_error(luisa_tile_dispatch(shader, nullptr, nullptr, 3), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_dispatch: arguments is null");
    expect_error(run(nullptr, wrap(y, 3)), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_dispatch: argument 0 is null in place of a tensor");
    expect_error(
        run(wrap(x, 3, 5), wrap(y, 3)), LUISA_TILE_SHAPE_ERROR,
        "ShapeError: argument 0 has extent 5 in dimension 1, the kernel was captured for 4");
    expect_error(run(wrap(x, 3), wrap(y, 3, 4, true)), LUISA_TILE_TYPE_ERROR,
                 "TypeError: argument 1 is read only, the kernel's view may be written; declare it "
                 "TensorView<const T, R>");
    expect_error(
        run(wrap(x, 3), wrap(y, 3), 2, x), LUISA_TILE_VALUE_ERROR,
        "ValueError: device 'cpu' has no native streams: what is submitted has run when the call "
        "returns; pass null");
    EXPECT_STREQ(luisa_tile_status_name(LUISA_TILE_OK), "OK");
    EXPECT_STREQ(luisa_tile_status_name(LUISA_TILE_OUT_OF_MEMORY_ERROR), "OutOfMemoryError");
    EXPECT_STREQ(luisa_tile_status_name(99), "unknown");
    EXPECT_STREQ(luisa_tile_type_name(LUISA_TILE_BFLOAT16), "bf16");
    EXPECT_STREQ(luisa_tile_type_name(-1), "");
}

TEST_F(Api, threads_share_a_shader_and_have_errors_of_their_own) {
    luisa_tile_shader *none = nullptr;
    expect_error(luisa_tile_dispatch(none, nullptr, nullptr, 0), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_dispatch: shader is null");
    std::vector<std::vector<float>> memory(8, std::vector<float>(400, 1.0f));
    for (auto &m : memory) {
        wrap(m.data(), 100);
    }
    std::vector<std::thread> threads;
    for (size_t t = 0; t < 4; ++t) {
        threads.emplace_back([this, t] {
            EXPECT_STREQ(luisa_tile_last_error(), "");
            for (int i = 0; i < 50; ++i) {
                EXPECT_EQ(run(tensors[2 * t], tensors[2 * t + 1], static_cast<double>(t)),
                          LUISA_TILE_OK);
            }
            EXPECT_EQ(run(nullptr, nullptr), LUISA_TILE_VALUE_ERROR);
            EXPECT_STRNE(luisa_tile_last_error(), "");
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    for (size_t t = 0; t < 4; ++t) {
        EXPECT_EQ(memory[2 * t + 1], std::vector<float>(400, static_cast<float>(t)));
    }
    EXPECT_STREQ(luisa_tile_last_error(), "ValueError: luisa_tile_dispatch: shader is null");
}

TEST_F(Api, tensors_of_another_device_are_refused) {
    float x[12] = {}, y[12] = {};
    luisa_tile_device *other = nullptr;
    ASSERT_EQ(luisa_tile_device_create("interpreter", nullptr, &other), LUISA_TILE_OK);
    const int64_t extents[] = {3, 4};
    luisa_tile_tensor *foreign = nullptr;
    ASSERT_EQ(
        luisa_tile_tensor_wrap(other, LUISA_TILE_FLOAT32, 2, extents, nullptr, x, 0, &foreign),
        LUISA_TILE_OK);
    expect_error(run(foreign, wrap(y, 3)), LUISA_TILE_DEVICE_ERROR,
                 "DeviceError: luisa_tile_dispatch: argument 0 is a tensor of device 'interpreter' "
                 "made by another "
                 "handle, the kernel's is 'cpu'");
    luisa_tile_tensor_destroy(foreign);
    luisa_tile_device_destroy(other);
}

TEST_F(Api, tensors_are_made_filled_and_read) {
    const int64_t extents[] = {3, 4}, negative[] = {3, -4};
    luisa_tile_tensor *x = nullptr, *y = nullptr;
    ASSERT_EQ(luisa_tile_tensor_create(device, LUISA_TILE_FLOAT32, 2, extents, &x), LUISA_TILE_OK);
    ASSERT_EQ(luisa_tile_tensor_create(device, LUISA_TILE_FLOAT32, 2, extents, &y), LUISA_TILE_OK);
    tensors = {x, y};
    float numbers[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, out[12] = {};
    ASSERT_EQ(luisa_tile_tensor_write(x, nullptr, numbers, sizeof numbers), LUISA_TILE_OK);
    ASSERT_EQ(run(x, y), LUISA_TILE_OK) << luisa_tile_last_error();
    ASSERT_EQ(luisa_tile_tensor_read(y, nullptr, out, sizeof out), LUISA_TILE_OK);
    EXPECT_EQ(out[11], 22.0f);
    luisa_tile_tensor_info about;
    ASSERT_EQ(luisa_tile_tensor_get_info(y, &about), LUISA_TILE_OK);
    EXPECT_TRUE(about.rank == 2 && about.extents[1] == 4 && about.strides[0] == 4 &&
                !about.read_only);
    luisa_tile_tensor *none = nullptr;
    expect_error(luisa_tile_tensor_read(y, nullptr, out, 47), LUISA_TILE_SHAPE_ERROR,
                 "ShapeError: luisa_tile_tensor_read: 47 bytes of the host, the tensor has 48");
    expect_error(luisa_tile_tensor_create(device, LUISA_TILE_FLOAT32, 2, negative, &none),
                 LUISA_TILE_VALUE_ERROR, "ValueError: extent must be >= 0, got -4");
    expect_error(
        luisa_tile_tensor_create(device, 77, 2, extents, &none), LUISA_TILE_VALUE_ERROR,
        "ValueError: luisa_tile_tensor_create: there is no element type 77; they are 0 to 14");
    expect_error(luisa_tile_tensor_create(device, LUISA_TILE_FLOAT32, 7, extents, &none),
                 LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_tensor_create: rank 7, expected 1 to 6");
    EXPECT_EQ(none, nullptr);
}

TEST_F(Api, dlpack_goes_in_and_out) {
    const int64_t extents[] = {3, 4};
    luisa_tile_tensor *x = nullptr, *back = nullptr;
    ASSERT_EQ(luisa_tile_tensor_create(device, LUISA_TILE_FLOAT32, 2, extents, &x), LUISA_TILE_OK);
    void *managed = nullptr;
    ASSERT_EQ(luisa_tile_tensor_to_dlpack_versioned(x, &managed), LUISA_TILE_OK);
    luisa_tile_tensor_destroy(x);
    ASSERT_EQ(luisa_tile_tensor_from_dlpack_versioned(device, managed, &back), LUISA_TILE_OK);
    tensors.push_back(back);
    float y[12];
    EXPECT_EQ(run(back, wrap(y, 3)), LUISA_TILE_OK) << luisa_tile_last_error();
    ASSERT_EQ(luisa_tile_tensor_to_dlpack(back, &managed), LUISA_TILE_OK);
    luisa_tile_tensor *again = nullptr;
    ASSERT_EQ(luisa_tile_tensor_from_dlpack(device, managed, &again), LUISA_TILE_OK);
    tensors.push_back(again);
}

TEST_F(Api, a_refused_import_deletes_the_tensor_once) {
    int deleted = 0;
    dlpack::Managed foreign;
    foreign.context = &deleted;
    foreign.deleter = [](dlpack::Managed *m) { ++*static_cast<int *>(m->context); };
    luisa_tile_tensor *out = nullptr;
    expect_error(luisa_tile_tensor_from_dlpack(device, &foreign, &out), LUISA_TILE_INTEROP_ERROR,
                 "InteropError: from_dlpack: the tensor has 0 dimensions, views have 1 to 6; "
                 "reshape it to one "
                 "element");
    EXPECT_EQ(deleted, 1);
    EXPECT_EQ(out, nullptr);
    expect_error(luisa_tile_tensor_from_dlpack(nullptr, &foreign, &out), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_tensor_from_dlpack: device is null");
    EXPECT_EQ(deleted, 2);
    float number = 0;
    int64_t one = 1;
    foreign.tensor = {&number, {dlpack::CPU, 0}, 1, {dlpack::FLOAT, 32, 1}, &one, nullptr, 0};
    expect_error(luisa_tile_tensor_from_dlpack(device, &foreign, nullptr), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_tensor_from_dlpack: out is null");
    EXPECT_EQ(deleted, 3);
}

TEST(ApiScalars, are_rounded_or_refused) {
    uint64_t bits = 0;
    auto from = [&](luisa_tile_type type, double value) {
        EXPECT_EQ(luisa_tile_scalar_from_double(type, value, &bits), LUISA_TILE_OK)
            << luisa_tile_last_error();
        return bits;
    };
    EXPECT_EQ(from(LUISA_TILE_FLOAT16, 1.0), 0x3c00u);
    EXPECT_EQ(from(LUISA_TILE_BFLOAT16, -2.0), 0xc000u);
    EXPECT_EQ(from(LUISA_TILE_FLOAT32, 1.0), 0x3f800000u);
    EXPECT_EQ(from(LUISA_TILE_FLOAT64, 1.0), 0x3ff0000000000000u);
    EXPECT_EQ(from(LUISA_TILE_INT8, -1.0), 0xffu);
    EXPECT_EQ(from(LUISA_TILE_BOOL, 1.0), 1u);
    auto whole = [&](luisa_tile_type type, int64_t value) {
        return luisa_tile_scalar_from_int64(type, value, &bits);
    };
    EXPECT_EQ(whole(LUISA_TILE_INT64, INT64_MIN), LUISA_TILE_OK);
    EXPECT_EQ(bits, uint64_t{1} << 63);
    EXPECT_EQ(whole(LUISA_TILE_UINT32, 0xffffffff), LUISA_TILE_OK);
    EXPECT_EQ(whole(LUISA_TILE_INT32, -5), LUISA_TILE_OK);
    EXPECT_EQ(bits, 0xfffffffbu);
    expect_error(whole(LUISA_TILE_UINT32, 0x100000000), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_scalar_from_int64: 4294967296 is no value of u32");
    expect_error(whole(LUISA_TILE_INT8, 128), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_scalar_from_int64: 128 is no value of i8");
    expect_error(whole(LUISA_TILE_UINT64, -1), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_scalar_from_int64: -1 is no value of u64");
    expect_error(whole(LUISA_TILE_BOOL, 2), LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_scalar_from_int64: 2 is no value of bool");
    expect_error(
        whole(LUISA_TILE_FLOAT8_E5M2, 1), LUISA_TILE_VALUE_ERROR,
        "ValueError: luisa_tile_scalar_from_int64: e5m2 has no numbers of its own; pass its bits");
    expect_error(luisa_tile_scalar_from_double(LUISA_TILE_INT32, 0.5, &bits),
                 LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_scalar_from_double: 0.500000 is no value of i32");
    expect_error(luisa_tile_scalar_from_double(LUISA_TILE_INT64, NAN, &bits),
                 LUISA_TILE_VALUE_ERROR,
                 "ValueError: luisa_tile_scalar_from_double: nan is no value of i64");
}

}// namespace luisa::tile::test
