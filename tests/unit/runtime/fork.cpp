// SPDX-License-Identifier: Apache-2.0
#include "support.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace luisa::tile::test {

namespace {

void fill(const uint64_t *args, int64_t begin, int64_t end, void *, void *) {
    for (auto i = begin; i < end; ++i) {
        reinterpret_cast<int32_t *>(args[0])[i] = static_cast<int32_t>(i);
    }
}

/// Runs `body` in a child process; its result is the exit status. A hanging child is ended.
int status_of_child(const std::function<int()> &body) {
    auto child = fork();
    if (child == 0) {
        alarm(20);
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

int dispatch_once(const Device &device, const Shader &shader) {
    std::vector<int32_t> out(1000, -1);
    Stream stream{device};
    stream << shader(Tensor<int32_t, 1>{out.data(), {1000}}).dispatch();
    return out[999] == 999 ? 0 : 1;
}

#ifdef __SANITIZE_THREAD__
constexpr int threads_of_child = 1;// ThreadSanitizer ends a child that makes threads
#else
constexpr int threads_of_child = 3;
#endif

Shader filler(const Device &device) {
    return hand_made(device, {{ScalarType::INT32, {1000}}}, one_phase(fill, 1000, 10));
}

}// namespace

TEST(Fork, a_child_is_refused_the_device_and_can_make_its_own) {
    auto device = std::make_unique<Device>(Device::create("cpu", {.threads = 3}));
    auto shader = filler(*device);
    ASSERT_EQ(dispatch_once(*device, shader), 0);
    auto status = status_of_child([&] {
        try {
            return dispatch_once(*device, shader) + 10;
        } catch (const StateError &error) {
            if (std::string{error.what()}.find("create it in the child") == std::string::npos) {
                return 20;
            }
        }
        auto own = Device::create("cpu", {.threads = threads_of_child});
        auto result = dispatch_once(own, filler(own));
        shader = {};
        device.reset();
        return result;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(dispatch_once(*device, shader), 0);
}

TEST(Fork, during_runs_of_other_threads_the_child_does_not_hang) {
    auto device = Device::create("cpu", {.threads = 3});
    auto shader = filler(device);
    std::atomic<bool> stop{false};
    std::thread busy{[&] {
        while (!stop) {
            dispatch_once(device, shader);
        }
    }};
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(status_of_child([&] {
                      try {
                          return dispatch_once(device, shader) + 10;
                      } catch (const StateError &) {
                          return 0;
                      }
                  }),
                  0);
    }
    stop = true;
    busy.join();
}

TEST(Fork, an_asynchronous_stream_refuses_work_in_the_child_and_goes_without_hanging) {
    auto device = Device::create("cpu", {.threads = 2});
    auto stream = std::make_unique<Stream>(device, StreamOptions{.async = true});
    std::atomic<int> ran{0};
    *stream << [&] { ++ran; } << synchronize();
    EXPECT_EQ(status_of_child([&] {
                  int refused = 0;
                  const std::function<void()> uses[] = {[&] { *stream << [] {}; },
                                                        [&] { stream->synchronize(); }};
                  for (const auto &use : uses) {
                      try {
                          use();
                      } catch (const StateError &) {
                          ++refused;
                      }
                  }
                  stream.reset();
                  return refused == 2 ? 0 : 1;
              }),
              0);
    *stream << [&] { ++ran; } << synchronize();
    EXPECT_EQ(ran, 2);
}

}// namespace luisa::tile::test
