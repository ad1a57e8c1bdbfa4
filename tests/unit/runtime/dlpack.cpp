// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/dlpack.h>

#include "fake_gpu.h"
#include "support.h"

#include <luisa/tile.h>

#include <numeric>

namespace luisa::tile::test {

namespace {

using namespace luisa::tile::dlpack;

/// A tensor of another library that counts how often it is deleted.
template<class M> struct Foreign {
    std::vector<float> memory = std::vector<float>(24);
    std::vector<int64_t> extents{2, 3}, strides{3, 1};
    int deleted = 0;
    M managed;

    Foreign() {
        std::iota(memory.begin(), memory.end(), 0.0f);
        managed.tensor = {memory.data(),  {CPU, 0},       2, {FLOAT, 32, 1},
                          extents.data(), strides.data(), 0};
        managed.context = this;
        managed.deleter = [](M *m) { ++static_cast<Foreign *>(m->context)->deleted; };
    }
    /// The error of an import after `change`, which has deleted the tensor once.
    template<class E, class T = float, int R = 2>
    std::string refused(const std::function<void(M &)> &change,
                        const Device &device = Device::create("interpreter")) {
        change(managed);
        auto text = message_of<E>([&] {
            static_cast<void>(from_dlpack<T, R>(device, &managed, {"user.cpp", 7}));
        });
        EXPECT_EQ(deleted, 1);
        return text;
    }
};
using Versioned = Foreign<ManagedVersioned>;
using Unversioned = Foreign<Managed>;

auto doubling() {
    return tile_kernel([](TensorView<const float, 2> X, TensorView<float, 2> Y) {
        auto c = axis("c", X.extent(1));
        for (auto &nest : parallel(shape(X.extent(0)))) {
            auto at = coord(nest.index(), 0);
            Y(at, shape(1, c)).store(X[at, shape(1, c)] * 2.0f);
        }
    });
}

}// namespace

TEST(DLPack, deletes_once_when_the_last_tensor_goes) {
    auto device = Device::create("cpu", {.threads = 1, .cache = false});
    Versioned foreign;
    {
        // [import]
        auto x = from_dlpack<const float, 2>(device, &foreign.managed);
        // [end]
        auto y = make_tensor<float>(device, 2, 3);
        auto copy = x;
        Stream stream{device};
        stream << device.jit(doubling())(x, y).dispatch() << synchronize();
        EXPECT_EQ(y.at(1, 2), 10.0f);
        x.free();
        EXPECT_EQ(foreign.deleted, 0);
    }
    EXPECT_EQ(foreign.deleted, 1);
}

TEST(DLPack, memory_lives_until_a_stream_has_used_it) {
    auto device = Device::create("cpu", {.threads = 1, .cache = false});
    Unversioned foreign;
    auto y = make_tensor<float>(device, 2, 3);
    Stream stream{device, {.async = true}};
    auto f = device.jit(doubling());
    int deleted_before = -1;
    {
        auto x = from_dlpack<float, 2>(device, &foreign.managed);
        stream << [&] { deleted_before = foreign.deleted; } << f(x, y).dispatch();
    }
    stream << synchronize();
    EXPECT_EQ(deleted_before, 0);
    EXPECT_EQ(foreign.deleted, 1);
    EXPECT_EQ(y.at(0, 1), 2.0f);
}

TEST(DLPack, takes_null_strides_offsets_reversed_and_repeated_axes) {
    auto device = Device::create("interpreter");
    Versioned dense;
    dense.managed.tensor.strides = nullptr;
    dense.managed.tensor.byte_offset = 8;
    auto x = from_dlpack<float, 2>(device, &dense.managed);
    EXPECT_EQ(x.at(1, 2), 7.0f);
    EXPECT_TRUE(x.is_dense());
    Versioned reversed;
    reversed.strides = {3, -1};
    reversed.managed.tensor.byte_offset = 2 * sizeof(float);
    auto r = from_dlpack<float, 2>(device, &reversed.managed);
    EXPECT_EQ(r.at(1, 0), 5.0f);
    Versioned repeated;
    repeated.strides = {0, 1};
    EXPECT_EQ((from_dlpack<float, 2>(device, &repeated.managed).at(1, 1)), 1.0f);
}

TEST(DLPack, takes_tensors_without_elements) {
    Versioned foreign;
    foreign.extents = {0, 3};
    foreign.managed.tensor.data = nullptr;
    auto device = Device::create("cpu", {.threads = 1, .cache = false});
    auto x = from_dlpack<float, 2>(device, &foreign.managed);
    auto y = make_tensor<float>(device, 0, 3);
    Stream{device} << device.jit(doubling())(x, y).dispatch() << synchronize();
    EXPECT_EQ(x.size(), 0);
}

TEST(DLPack, a_null_deleter_is_nothing_to_free) {
    Versioned foreign;
    foreign.managed.deleter = nullptr;
    static_cast<void>(from_dlpack<float, 2>(Device::create("interpreter"), &foreign.managed));
    EXPECT_EQ(foreign.deleted, 0);
}

TEST(DLPack, every_element_type_has_its_number) {
    for (size_t i = 0; i < scalar_type_count; ++i) {
        auto type = static_cast<ScalarType>(i);
        auto number = element_type(type);
        EXPECT_EQ(number.bits, info(type).bits);
        EXPECT_EQ(dlpack::scalar_type(number), type);
    }
    EXPECT_EQ(element_type(ScalarType::BFLOAT16).code, 4);
    EXPECT_EQ(element_type(ScalarType::BOOL).code, 6);
    EXPECT_EQ(element_type(ScalarType::FLOAT8_E4M3FN).code, 10);
    EXPECT_EQ(element_type(ScalarType::FLOAT8_E5M2).code, 12);
}

TEST(DLPack, refuses_with_the_place_and_the_reason) {
    const std::string types =
        "; there are bool, integers of 8 to 64 bits, float of 16 to 64 bits, bfloat of 16 "
        "bits, float8_e4m3fn and float8_e5m2, each in one lane";
    EXPECT_EQ(Versioned{}.refused<TypeError>([](auto &m) {
        m.tensor.type = {5, 64, 1};
    }),
              "user.cpp:7: TypeError: from_dlpack: no element type is complex of 64 bits" + types);
    EXPECT_EQ(Versioned{}.refused<TypeError>([](auto &m) { m.tensor.type.lanes = 4; }),
              "user.cpp:7: TypeError: from_dlpack: no element type is float of 32 bits in 4 lanes" +
                  types);
    EXPECT_EQ(Versioned{}.refused<TypeError>([](auto &m) {
        m.tensor.type = {99, 3, 1};
    }),
              "user.cpp:7: TypeError: from_dlpack: no element type is code 99 of 3 bits" + types);
    EXPECT_EQ((Versioned{}.refused<InteropError, double>([](auto &) {})),
              "user.cpp:7: InteropError: from_dlpack: the tensor is of rank 2 and f32, asked for "
              "is rank 2 of f64");
    EXPECT_EQ((Versioned{}.refused<InteropError, float, 3>([](auto &) {})),
              "user.cpp:7: InteropError: from_dlpack: the tensor is of rank 2 and f32, asked for "
              "is rank 3 of f32");
    EXPECT_EQ(Versioned{}.refused<InteropError>([](auto &m) { m.flags = READ_ONLY; }),
              "user.cpp:7: InteropError: from_dlpack: the tensor is read-only; ask for a "
              "Tensor<const T, R>");
    EXPECT_EQ(
        Versioned{}.refused<InteropError>([](auto &m) {
            m.version = {2, 1};
        }),
        "user.cpp:7: InteropError: from_dlpack: the tensor is of DLPack 2.1, expected version 1");
    EXPECT_EQ(Unversioned{}.refused<InteropError>([](auto &m) { m.tensor.rank = 0; }),
              "user.cpp:7: InteropError: from_dlpack: the tensor has 0 dimensions, views have 1 to "
              "6; reshape it to "
              "one element");
    EXPECT_EQ(
        Unversioned{}.refused<InteropError>([](auto &m) { m.tensor.rank = 7; }),
        "user.cpp:7: InteropError: from_dlpack: the tensor has 7 dimensions, views have 1 to 6");
    EXPECT_EQ(Unversioned{}.refused<ValueError>([](auto &m) { m.tensor.extents = nullptr; }),
              "user.cpp:7: ValueError: from_dlpack: the tensor has no extents (a null shape)");
    EXPECT_EQ(Unversioned{}.refused<ValueError>([](auto &m) { m.tensor.extents[0] = -1; }),
              "user.cpp:7: ValueError: extent must be >= 0, got -1");
    EXPECT_EQ(
        Unversioned{}.refused<ValueError>([](auto &m) { m.tensor.data = nullptr; }),
        "user.cpp:7: ValueError: from_dlpack: the tensor has elements but no memory (null data)");
    EXPECT_EQ(Unversioned{}.refused<ValueError>([](auto &m) { m.tensor.strides[0] = INT64_MAX; }),
              "user.cpp:7: ValueError: from_dlpack: the strides reach beyond the range of int64");
    EXPECT_EQ(Unversioned{}.refused<AlignmentError>([](auto &m) { m.tensor.byte_offset = 2; }),
              "user.cpp:7: AlignmentError: from_dlpack: the tensor's address is a multiple of 2, "
              "not of the 4 bytes "
              "of one f32; copy it to memory of its own");
    EXPECT_EQ(Unversioned{}.refused<DeviceError>([](auto &m) {
        m.tensor.device = {CUDA, 1};
    }),
              "user.cpp:7: DeviceError: from_dlpack: the tensor is on CUDA device 1, device "
              "'interpreter' takes "
              "tensors on the CPU; move it there first");
    EXPECT_EQ(Unversioned{}.refused<DeviceError>([](auto &m) {
        m.tensor.device = {10, 0};
    }),
              "user.cpp:7: DeviceError: from_dlpack: the tensor is on a device of DLPack's type "
              "10, device "
              "'interpreter' takes tensors on the CPU; move it there first");
    EXPECT_EQ(message_of<ValueError>([] {
                  static_cast<void>(from_dlpack<float, 2>(Device::create("interpreter"),
                                                          static_cast<Managed *>(nullptr),
                                                          {"user.cpp", 7}));
              }),
              "user.cpp:7: ValueError: from_dlpack: the managed tensor is null");
}

TEST(DLPack, exports_share_the_memory_and_keep_it) {
    auto device = Device::create("interpreter");
    std::weak_ptr<void> memory;
    ManagedVersioned *out = nullptr;
    {
        auto x = make_tensor<bfloat16>(device, 4, 6);
        memory = x.argument().owner;
        out = to_dlpack(device, x.transposed(0, 1).slice(0, 1, 5, 2));
        EXPECT_EQ(out->tensor.data, x.data() + 1);
    }
    EXPECT_FALSE(memory.expired());
    EXPECT_EQ(out->version.major, 1u);
    EXPECT_EQ(out->flags, 0u);
    const auto &t = out->tensor;
    EXPECT_EQ(t.rank, 2);
    EXPECT_EQ(t.device.type, CPU);
    EXPECT_EQ(t.type.code, BFLOAT);
    EXPECT_EQ((std::vector<int64_t>{t.extents[0], t.extents[1], t.strides[0], t.strides[1]}),
              (std::vector<int64_t>{2, 4, 2, 6}));
    out->deleter(out);
    EXPECT_TRUE(memory.expired());
}

TEST(DLPack, exports_say_what_is_read_only) {
    auto device = Device::create("interpreter");
    float numbers[2] = {1, 2};
    Tensor<const float, 1> x{numbers, {2}};
    auto *out = to_dlpack(device, x);
    EXPECT_EQ(out->flags, READ_ONLY);
    auto back = from_dlpack<const float, 1>(device, out);
    EXPECT_EQ(back.at(1), 2.0f);
    EXPECT_EQ(message_of<InteropError>([&] {
                  static_cast<void>(to_dlpack_unversioned(device, x, {"user.cpp", 9}));
              }),
              "user.cpp:9: InteropError: to_dlpack_unversioned: the tensor is read-only, which "
              "this form cannot say; "
              "use to_dlpack");
    EXPECT_EQ(
        message_of<LifetimeError>([&] {
            static_cast<void>(to_dlpack(device, Tensor<float, 1>{}, {"user.cpp", 9}));
        }),
        "user.cpp:9: LifetimeError: to_dlpack: the tensor was moved from, freed or never made");
    auto *unversioned = to_dlpack_unversioned(device, Tensor<float, 1>{numbers, {2}});
    EXPECT_EQ(unversioned->tensor.data, numbers);
    unversioned->deleter(unversioned);
}

class DLPackOnGpu : public runtime::cuda::test::FakeGpu {};

TEST_F(DLPackOnGpu, memory_is_of_that_gpu) {
    auto device = Device::create("cuda:1", {.cache = false});
    auto x = make_tensor<float>(device, 2, 3);
    auto *out = to_dlpack(device, x);
    EXPECT_EQ(out->tensor.device.type, CUDA);
    EXPECT_EQ(out->tensor.device.number, 1);
    auto back = from_dlpack<float, 2>(device, out);
    EXPECT_EQ(back.data(), x.data());
    EXPECT_EQ(Versioned{}.refused<DeviceError>(
                  [](auto &m) {
                      m.tensor.device = {CUDA, 0};
                  },
                  device),
              "user.cpp:7: DeviceError: from_dlpack: the tensor is on CUDA device 0, device "
              "'cuda:1' takes tensors on "
              "CUDA device 1; move it there first");
    EXPECT_EQ(Versioned{}.refused<DeviceError>([](auto &) {}, device),
              "user.cpp:7: DeviceError: from_dlpack: the tensor is on the CPU, device 'cuda:1' "
              "takes tensors on CUDA "
              "device 1; move it there first");
    Versioned managed;
    managed.managed.tensor.device = {CUDA_MANAGED, 0};
    EXPECT_EQ((from_dlpack<float, 2>(device, &managed.managed).extent(1)), 3);
}

}// namespace luisa::tile::test
