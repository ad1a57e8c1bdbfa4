// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/accelerator.h"
#include "runtime/device.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace luisa::tile::runtime {

/// What an event and the streams that record it share.
struct EventState {
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t submitted = 0, done = 0;///< records
    std::chrono::steady_clock::time_point time{};
    std::shared_ptr<Mark> mark;///< of the last record, on an accelerator

    /// On an accelerator, the record is done when `at` is reached.
    void record(std::shared_ptr<Mark> at = nullptr) noexcept;
    /// Returns when `records` records are done.
    void wait(uint64_t records);
    /// Returns when `records` records were submitted to their queues, with what the last one is reached by.
    [[nodiscard]] std::shared_ptr<Mark> wait_for_mark(uint64_t records);
};

/// What a stream needs beyond its caller's thread: on an accelerator its queue, and if it is asynchronous a
/// thread and the commands that wait for it.
class StreamQueue {
public:
    /// What a command may be skipped for: nothing, or an earlier error.
    enum class Kind : uint8_t { SKIPPABLE, ALWAYS };

    StreamQueue(std::shared_ptr<DeviceImpl> device, bool threaded,
                std::optional<void *> native = std::nullopt);
    /// Runs what waits, then ends the thread. A callback may be the one that drops its own stream.
    ~StreamQueue();
    StreamQueue(const StreamQueue &) = delete;
    StreamQueue &operator=(const StreamQueue &) = delete;

    /// Without a thread the command runs at once.
    void push(std::function<void()> command, Kind kind = Kind::SKIPPABLE);
    /// Returns when all commands are done; rethrows the first error since the last call.
    void wait();
    [[nodiscard]] bool threaded() const noexcept { return _thread.joinable(); }
    /// The accelerator's queue, to be used by commands; null on the host.
    [[nodiscard]] AcceleratorQueue *work() const noexcept { return _state->work.get(); }

private:
    struct Command {
        std::function<void()> run;
        Kind kind;
    };
    /// Shared with the thread, which may outlive the queue.
    struct State {
        std::shared_ptr<DeviceImpl> device;
        std::unique_ptr<AcceleratorQueue> work;
        std::mutex mutex;
        std::condition_variable changed;
        std::deque<Command> commands;
        bool busy = false, stop = false;
        std::exception_ptr error;
    };
    static void work(State &state) noexcept;

    std::shared_ptr<State> _state;
    std::thread _thread;
};

}// namespace luisa::tile::runtime
