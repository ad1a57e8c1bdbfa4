// SPDX-License-Identifier: Apache-2.0
#include "unit/runtime/support.h"

#include <atomic>
#include <future>
#include <numeric>
#include <thread>

// Streams with a thread of their own: order, lifetimes, errors. No test sleeps: a callback that waits for a
// promise holds a stream where it is.

namespace luisa::tile::test {

namespace {

auto add_one() {
    return tile_kernel([](TensorView<float, 1> Y) {
        auto i = axis("i", 32);
        for (auto &nest : parallel(shape(ceil_div(Y.extent(0), 32)))) {
            auto at = coord(nest.index() * 32);
            Y(at, shape(i)).store(Y[at, shape(i)] + 1.0f);
        }
    });
}

/// Holds a stream until `open`.
struct Gate {
    std::promise<void> promise;
    std::shared_future<void> future = promise.get_future().share();
    void open() { promise.set_value(); }
    [[nodiscard]] std::function<void()> wait() const {
        return [f = future] { f.wait(); };
    }
};

class AsyncStream : public ::testing::TestWithParam<const char *> {
protected:
    Device device = Device::create(GetParam(), {.threads = 2});
    Stream stream{device, {.async = true}};
};

}// namespace

INSTANTIATE_TEST_SUITE_P(Runtime, AsyncStream, ::testing::Values("cpu", "interpreter"),
                         [](const auto &info) { return std::string{info.param}; });

TEST_P(AsyncStream, runs_in_order_on_its_own_thread) {
    std::vector<int> order;
    auto here = std::this_thread::get_id(), there = here;
    Gate gate;
    stream << gate.wait() << [&] { order.push_back(1); } << [&] { order.push_back(2); }
           << [&] { there = std::this_thread::get_id(); };
    EXPECT_TRUE(order.empty());// submission has returned before anything ran
    gate.open();
    stream << synchronize();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_NE(there, here);
}

TEST_P(AsyncStream, commands_keep_what_they_name) {
    std::vector<float> host(100, 1), result(100);
    Gate gate;
    {
        auto f = device.jit(add_one());
        Buffer<float> y{device, 100};
        auto extra = make_tensor<float>(device, 100);
        stream << gate.wait() << y.copy_from(host) << f(y).dispatch() << f(y).dispatch()
               << y.copy_to(result) << extra.copy_from(host) << f(extra).dispatch();
        extra.free();
    }// definition, shader and memory have no other handle now
    device = {};
    gate.open();
    stream.synchronize();
    EXPECT_EQ(result, std::vector<float>(100, 3.0f));
}

TEST_P(AsyncStream, mistakes_in_arguments_are_thrown_at_submission) {
    auto shader = device.compile(add_one().capture(tensor_shape(8)));
    auto wrong = make_tensor<float>(device, 9), right = make_tensor<float>(device, 8);
    Gate gate;
    stream << gate.wait();
    EXPECT_NE(message_of<ShapeError>([&] {
                  stream << shader(wrong).dispatch();
              }).find("extent 9 in dimension 0"),
              std::string::npos);
    EXPECT_THROW(stream << Shader{}(right).dispatch(), LifetimeError);
    gate.open();
    stream << shader(right).dispatch() << synchronize();// nothing stuck
}

TEST_P(AsyncStream, an_exception_of_a_callback_comes_out_of_the_next_synchronisation) {
    int ran = 0;
    stream << [] { throw 7; } << [&] { ++ran; } << [] { throw 8; };
    EXPECT_THROW(stream.synchronize(), int);
    EXPECT_EQ(ran, 0);// skipped
    stream << [&] { ++ran; } << synchronize();
    EXPECT_EQ(ran, 1);
}

TEST_P(AsyncStream, errors_of_a_kernel_name_it_and_its_dispatch) {
    auto checked = Device::create("interpreter", {.threads = 1, .validate = true});
    Stream later{checked, {.async = true}};
    auto kernel = tile_kernel(
                      [](TensorView<float, 1> Y) {
                          for (auto &nest : parallel(shape(4))) {
                              Y(nest.index() / 4).store(cast<float>(nest.index()));
                          }
                      },
                      {.name = "racing"})
                      .capture(tensor_shape(4));
    auto shader = checked.compile(kernel);
    later << shader(make_tensor<float>(checked, 4)).dispatch();
    auto text = message_of<RaceError>([&] { later.synchronize(); });
    EXPECT_NE(text.find("note: in kernel 'racing', dispatched here (async.cpp:"), std::string::npos)
        << text;
}

TEST_P(AsyncStream, is_finished_by_its_destructor) {
    std::atomic<int> ran{0};
    {
        Stream other{device, {.async = true}};
        for (int i = 0; i < 100; ++i) {
            other << [&] { ++ran; };
        }
        other << [] { throw 1; };// no one asks: dropped
    }
    EXPECT_EQ(ran, 100);
    Stream a{device, {.async = true}};
    a << [&] { ++ran; };
    a = Stream{device};// waits for the old commands
    EXPECT_EQ(ran, 101);
    a << [&] { ++ran; };
    EXPECT_EQ(ran, 102);
}

TEST_P(AsyncStream, may_be_dropped_by_its_own_callback) {
    auto dropped = std::make_shared<std::promise<void>>();
    auto done = dropped->get_future();
    {
        auto own = std::make_shared<Stream>(device, StreamOptions{.async = true});
        Gate gate;
        *own << gate.wait() << [own, dropped]() mutable {
            own.reset();
            dropped->set_value();
        };
        own.reset();
        gate.open();
    }
    done.wait();
}

TEST_P(AsyncStream, that_waits_for_itself_is_an_error) {
    auto *self = &stream;
    stream << [self] { self->synchronize(); };
    auto text = message_of<StateError>([&] { stream.synchronize(); });
    EXPECT_NE(text.find("a callback synchronizes the stream that runs it"), std::string::npos);
}

TEST_P(AsyncStream, events_order_streams) {
    Stream other{device, {.async = true}};
    Event ready;
    std::vector<int> order;
    Gate gate;
    stream << gate.wait() << [&] { order.push_back(1); } << ready;
    other << ready.wait() << [&] { order.push_back(2); };
    EXPECT_THROW(static_cast<void>(ready.milliseconds_since(ready)), StateError);
    gate.open();
    other.synchronize();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    ready.synchronize();
    EXPECT_EQ(ready.milliseconds_since(ready), 0);
    // After a failure events are still recorded, or others would wait for ever.
    stream << [] { throw 1; } << ready;
    ready.synchronize();
    EXPECT_THROW(stream.synchronize(), int);
}

TEST_P(AsyncStream, events_that_no_stream_records_are_errors) {
    Event never;
    auto text = message_of<StateError>([&] { never.synchronize(); });
    EXPECT_NE(text.find("an event is waited for that no stream was asked to record"),
              std::string::npos);
    EXPECT_THROW(stream << never.wait(), StateError);
    auto moved = std::move(never);
    EXPECT_THROW(stream << never, LifetimeError);
    EXPECT_THROW(static_cast<void>(never.wait()), LifetimeError);
    EXPECT_THROW(static_cast<void>(moved.milliseconds_since(never)), LifetimeError);
}

TEST_P(AsyncStream, a_moved_from_stream_says_so) {
    auto moved = std::move(stream);
    const char *expected = "LifetimeError: a stream is used after it was moved from";
    Event event;
    auto y = make_tensor<float>(device, 4);
    std::vector<float> host(4);
    for (const auto &use : std::vector<std::function<void()>>{
             [&] { stream << [] {}; }, [&] { stream << synchronize(); }, [&] { stream << event; },
             [&] { stream << y.copy_from(host); }}) {
        EXPECT_EQ(message_of<LifetimeError>(use), expected);
    }
    EXPECT_NE(message_of<ValueError>([&] {
                  moved << std::function<void()>{};
              }).find("an empty function is submitted to a stream"),
              std::string::npos);
}

}// namespace luisa::tile::test
