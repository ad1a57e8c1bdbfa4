// SPDX-License-Identifier: Apache-2.0
#include <luisa/tile/runtime.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace luisa::tile {

namespace {

Device interpreter_device() { return Device::create("interpreter"); }

/// 0, 1, 2, … in row-major order.
Tensor<float, 2> counted(std::vector<float> &memory, int64_t rows, int64_t columns) {
    memory.resize(static_cast<size_t>(rows * columns));
    for (size_t i = 0; i < memory.size(); ++i) {
        memory[i] = static_cast<float>(i);
    }
    return {memory.data(), {rows, columns}};
}

}// namespace

TEST(Tensor, large_memory_is_whole_huge_pages_whatever_was_freed_before) {
    constexpr size_t huge = size_t{2} << 20;
    {// Blocks that the heap has touched, so that it would rather give them again.
        std::vector<std::vector<char>> touched(8, std::vector<char>(3 * huge, 1));
    }
    auto device = Device::create("cpu", {.threads = 1});
    std::vector<Tensor<float, 2>> tensors;
    for (int i = 0; i < 8; ++i) {
        tensors.push_back(make_tensor<float>(device, 1000, 1000));
        auto *data = tensors.back().data();
        EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % huge, 0u);
        data[0] = data[999'999] = 1;
    }
}

TEST(Tensor, device_memory_is_aligned_dense_and_shared_by_copies) {
    auto t = make_tensor<float>(interpreter_device(), 3, 5);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(t.data()) % 64, 0u);
    EXPECT_EQ(t.strides(), (std::array<int64_t, 2>{5, 1}));
    EXPECT_EQ(t.size(), 15);
    EXPECT_TRUE(t.is_dense());
    auto copy = t;
    copy.at(2, 4) = 7;
    EXPECT_EQ(t.at(2, 4), 7);
}

TEST(Tensor, memory_outlives_its_device_and_its_first_handle) {
    Tensor<int32_t, 1> row;
    {
        auto t = make_tensor<int32_t>(interpreter_device(), 4, 8);
        t.at(3, 7) = 42;
        auto last = t.slice(0, 3, 4);
        row = Tensor<int32_t, 1>{last.data(), {8}};
        auto kept = last;
        t.free();
        EXPECT_EQ(t.data(), nullptr);
        EXPECT_EQ(kept.at(0, 7), 42);
    }
}

TEST(Tensor, bad_extents_are_rejected_where_they_are_written) {
    auto device = interpreter_device();
    try {
        static_cast<void>(make_tensor<float>(device, 3, -1));
        FAIL();
    } catch (const ValueError &error) {
        EXPECT_NE(error.message().find("-1"), std::string::npos) << error.what();
    }
    auto big = std::numeric_limits<int64_t>::max() / 4;
    EXPECT_THROW((Tensor<double, 2>{device, {big, 2}}), ValueError);
}

TEST(Tensor, an_empty_one_is_fine) {
    auto t = make_tensor<double>(interpreter_device(), 0, 5);
    EXPECT_EQ(t.size(), 0);
    EXPECT_TRUE(t.is_dense());
}

TEST(Tensor, slices_step_forwards_and_backwards) {
    std::vector<float> memory;
    auto t = counted(memory, 4, 6);
    auto odd = t.slice(1, 1, 6, 2);
    EXPECT_EQ(odd.extents(), (std::array<int64_t, 2>{4, 3}));
    EXPECT_EQ(odd.strides(), (std::array<int64_t, 2>{6, 2}));
    EXPECT_EQ(odd.at(2, 2), 17);
    auto backwards = t.slice(0, 3, -1, -1);
    EXPECT_EQ(backwards.extent(0), 4);
    EXPECT_EQ(backwards.stride(0), -6);
    EXPECT_EQ(backwards.at(0, 0), 18);
    EXPECT_EQ(backwards.at(3, 5), 5);
    EXPECT_EQ(t.slice(1, 2, 2).size(), 0);
    EXPECT_FALSE(odd.is_dense());
}

TEST(Tensor, slices_outside_are_rejected) {
    std::vector<float> memory;
    auto t = counted(memory, 4, 6);
    // Not a constant: the compiler would warn of what is tested here.
    for (volatile int axis : {-1, 2}) {
        EXPECT_THROW(static_cast<void>(t.slice(axis, 0, 1)), IndexError);
    }
    EXPECT_THROW(static_cast<void>(t.slice(0, 0, 5)), IndexError);
    EXPECT_THROW(static_cast<void>(t.slice(0, -1, 2)), IndexError);
    EXPECT_THROW(static_cast<void>(t.slice(0, 0, 4, 0)), ValueError);
}

TEST(Tensor, transposed_and_repeated_move_no_data) {
    std::vector<float> memory;
    auto t = counted(memory, 2, 3);
    auto turned = t.transposed(0, 1);
    EXPECT_EQ(turned.extents(), (std::array<int64_t, 2>{3, 2}));
    EXPECT_EQ(turned.at(2, 1), t.at(1, 2));
    auto rows = t.slice(0, 1, 2).repeated(0, 9);
    EXPECT_EQ(rows.stride(0), 0);
    EXPECT_EQ(rows.at(8, 2), 5);
    EXPECT_THROW(static_cast<void>(t.repeated(0, 9)), ShapeError);
    EXPECT_THROW(static_cast<void>(t.slice(0, 1, 2).repeated(0, -1)), ValueError);
    EXPECT_THROW(static_cast<void>(t.transposed(0, 2)), IndexError);
}

TEST(Tensor, meta_names_strides_only_when_they_are_not_dense) {
    std::vector<float> memory;
    auto t = counted(memory, 2, 3);
    EXPECT_TRUE(t.meta().strides.empty());
    EXPECT_EQ(t.transposed(0, 1).meta().strides, (std::vector<int64_t>{1, 3}));
}

TEST(Tensor, a_moved_from_one_is_dead_and_can_be_assigned) {
    auto device = interpreter_device();
    auto t = make_tensor<float>(device, 4);
    auto *data = t.data();
    auto moved = std::move(t);
    EXPECT_EQ(moved.data(), data);
    EXPECT_FALSE(t.argument().alive);
    EXPECT_TRUE(moved.argument().alive);
    t = moved;
    EXPECT_TRUE(t.argument().alive);
    auto &self = t;
    t = std::move(self);
    EXPECT_EQ(t.data(), data);
}

TEST(Tensor, arguments_carry_type_constness_and_layout) {
    const std::vector<uint16_t> memory(12);
    Tensor<const uint16_t, 2> t{memory.data(), {3, 2}, {4, 1}};
    auto a = t.argument();
    EXPECT_TRUE(a.is_view);
    EXPECT_TRUE(a.read_only);
    EXPECT_EQ(a.type, ScalarType::UINT16);
    EXPECT_EQ(a.rank, 2);
    EXPECT_EQ(a.extents[0], 3);
    EXPECT_EQ(a.strides[0], 4);
    auto scalar = runtime::argument_from(-1.5f);
    EXPECT_FALSE(scalar.is_view);
    EXPECT_EQ(scalar.bits, 0xbfc00000u);
}

}// namespace luisa::tile
