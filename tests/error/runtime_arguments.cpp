// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/support.h"

#include <limits>

// Mistakes in the arguments of a dispatch: class and message.

namespace luisa::tile::test {

namespace {

void nothing(const uint64_t *, int64_t, int64_t, void *, void *) {}

class RuntimeArguments : public ::testing::Test {
protected:
    Device device = Device::create("cpu", {.threads = 1});
    Device checking = Device::create("cpu", {.threads = 1, .validate = true});
    Stream stream{device};
    Tensor<float, 2> a = make_tensor<float>(device, 4, 6), b = make_tensor<float>(device, 4, 6);
    Shader shader = hand_made(
        device,
        {{ScalarType::FLOAT32, {4, 6}, true}, {ScalarType::FLOAT32, {4, 6}}, {ScalarType::FLOAT32}},
        one_phase(nothing, 1));

    template<class E, class... A> std::string refused(const A &...arguments) {
        return message_of<E>([&] { stream << shader(arguments...).dispatch(); });
    }
    /// The same without place and class.
    template<class E, class... A> std::string refused_message(const A &...arguments) {
        auto text = refused<E>(arguments...);
        auto at = text.find("Error: ");
        return at == std::string::npos ? text : text.substr(at + 7);
    }
};

void expect_names(const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

}// namespace

TEST_F(RuntimeArguments, number) {
    auto text = refused<CallError>(a, b);
    expect_names(text, "CallError: ");
    expect_names(text, "takes 3 arguments");
    expect_names(text, "got 2");
    expect_names(text, "const f32");
}

TEST_F(RuntimeArguments, place_of_the_dispatch_is_named) {
    EXPECT_EQ(refused<CallError>(a).rfind("runtime_arguments.cpp:", 0), 0u);
}

TEST_F(RuntimeArguments, element_type_and_rank) {
    auto text = refused<TypeError>(make_tensor<int32_t>(device, 4, 6), b, 1.0f);
    expect_names(text, "'A' is a rank-2 tensor of i32");
    expect_names(text, "expects rank 2 of f32");
    expect_names(refused<TypeError>(make_tensor<float>(device, 24), b, 1.0f), "rank-1");
    expect_names(refused<TypeError>(a, b, 1.0), "'C' is f64");
    expect_names(refused<TypeError>(a, b, a), "'C' is a tensor");
    expect_names(refused<TypeError>(1.0f, b, 1.0f), "'A' is a number");
}

TEST_F(RuntimeArguments, extents_and_strides) {
    auto text = refused<ShapeError>(make_tensor<float>(device, 4, 7), b, 1.0f);
    expect_names(text, "extent 7 in dimension 1");
    expect_names(text, "captured for 6");
    auto wide = make_tensor<float>(device, 4, 12).slice(1, 0, 6);
    text = refused<ShapeError>(wide, b, 1.0f);
    expect_names(text, "stride 12 in dimension 0");
    expect_names(text, "captured for 6");
}

TEST_F(RuntimeArguments, read_only_memory_for_an_output) {
    std::vector<float> memory(24);
    Tensor<const float, 2> constant{memory.data(), {4, 6}};
    expect_names(refused<TypeError>(a, constant, 1.0f), "'B' is read only");
    stream << shader(constant, b, 1.0f).dispatch();
}

TEST_F(RuntimeArguments, dead_null_and_misaligned_tensors) {
    auto moved = std::move(a);
    expect_names(refused<LifetimeError>(a, b, 1.0f), "'A'");
    moved.free();
    expect_names(refused<LifetimeError>(moved, b, 1.0f), "freed");
    expect_names(refused<LifetimeError>(b, Tensor<float, 2>{}, 1.0f), "'B'");
    Tensor<float, 2> null{nullptr, {4, 6}};
    expect_names(refused<ValueError>(null, b, 1.0f), "null");
    std::vector<char> bytes(200);
    Tensor<float, 2> odd{reinterpret_cast<float *>(bytes.data() + 1), {4, 6}};
    auto text = refused<AlignmentError>(odd, b, 1.0f);
    expect_names(text, "'A' is at address 0x");
    expect_names(text, "4 bytes of one f32");
}

TEST_F(RuntimeArguments, equal_names_are_one_extent) {
    auto any = ir::runtime_value;
    shader = hand_made(device,
                       {{ScalarType::FLOAT32, {any, 6}, true, {}, {"n"}},
                        {ScalarType::FLOAT32, {any, 6}, false, {}, {"n"}}},
                       one_phase(nothing, 1));
    stream << shader(a, b).dispatch();
    auto text = refused<CallError>(a, make_tensor<float>(device, 5, 6));
    expect_names(text, "extent 'n' is 4 in argument 'A' and 5 in argument 'B'");
}

TEST_F(RuntimeArguments, outputs_that_share_addresses) {
    auto any = ir::runtime_value;
    shader = hand_made(device, {{ScalarType::FLOAT32, {4, 6}, false, {any, any}}},
                       one_phase(nothing, 1));
    auto row = make_tensor<float>(device, 1, 6).repeated(0, 4);
    EXPECT_EQ(refused_message<AliasError>(row),
              "argument 'A' is written, but its elements (0, 0) and (1, 0) share an address "
              "(strides 0, 1); write to a view whose elements are distinct");
    // Windows that slide by one over a row: two places, one element.
    Tensor<float, 2> windows{a.data(), {4, 6}, {1, 1}};
    EXPECT_EQ(refused_message<AliasError>(windows),
              "argument 'A' is written, but its elements (0, 1) and (1, 0) share an address "
              "(strides 1, 1); write to a view whose elements are distinct");
    Tensor<float, 2> crossing{a.data() + 10, {4, 6}, {-4, 2}};
    EXPECT_EQ(refused_message<AliasError>(crossing),
              "argument 'A' is written, but its elements (0, 0) and (1, 2) share an address "
              "(strides -4, 2); write to a view whose elements are distinct");
    // Distinct elements in any order are welcome.
    stream << shader(a.slice(0, 3, -1, -1)).dispatch()
           << shader(Tensor<float, 2>{a.data(), {4, 6}, {1, 4}}).dispatch();
}

TEST_F(RuntimeArguments, inputs_may_show_one_element_at_several_places) {
    auto any = ir::runtime_value;
    shader = hand_made(device, {{ScalarType::FLOAT32, {4, 6}, true, {any, any}}},
                       one_phase(nothing, 1));
    stream << shader(Tensor<float, 2>{a.data(), {4, 6}, {1, 1}}).dispatch()
           << shader(make_tensor<float>(device, 1, 6).repeated(0, 4)).dispatch();
}

TEST_F(RuntimeArguments, strides_that_leave_every_address) {
    auto any = ir::runtime_value;
    shader = hand_made(device, {{ScalarType::FLOAT32, {4, 6}, true, {any, any}}},
                       one_phase(nothing, 1));
    auto largest = std::numeric_limits<int64_t>::max(), least = -largest - 1;
    for (auto stride : {largest, least, largest / 4, least / 8}) {
        EXPECT_EQ(refused_message<ValueError>(Tensor<float, 2>{a.data(), {4, 6}, {stride, 1}}),
                  "argument 'A' has extents and strides that reach beyond the range of int64");
    }
}

TEST_F(RuntimeArguments, broken_promises_are_found) {
    auto any = ir::runtime_value;
    std::vector<Parameter> parameters{{ScalarType::FLOAT32, {4, 3}, true, {any, any}},
                                      {ScalarType::FLOAT32, {4, 3}, false, {any, any}}};
    shader = hand_made(checking, parameters, one_phase(nothing, 1), true);
    stream = Stream{checking};
    auto left = a.slice(1, 0, 3), right = a.slice(1, 3, 6), middle = a.slice(1, 2, 5);
    // Their address ranges cross, but no element is in both.
    stream << shader(left, right).dispatch();
    stream << shader(a.slice(1, 0, 6, 2), a.slice(1, 1, 6, 2)).dispatch();
    auto text = refused<AliasError>(left, middle);
    expect_names(text, "'B' at [0x");
    expect_names(text, "'A' at [0x");
    expect_names(text, "promises noalias");
}

TEST_F(RuntimeArguments, copies) {
    std::vector<float> few(23), right(24);
    auto text = message_of<ShapeError>([&] { stream << a.copy_from(few); });
    expect_names(text, "runtime_arguments.cpp");
    expect_names(text, "the tensor has 24 elements, the host memory 23");
    expect_names(message_of<LifetimeError>([&] { stream << Tensor<float, 2>{}.copy_to(right); }),
                 "copy_to");
    auto row = make_tensor<float>(device, 1, 6).repeated(0, 4);
    expect_names(message_of<AliasError>([&] { stream << row.copy_from(right); }),
                 "share an address (strides 0, 1)");
}

}// namespace luisa::tile::test
