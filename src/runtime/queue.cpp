// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue.h"

#include <system_error>
#include <utility>

namespace luisa::tile::runtime {

void EventState::record(std::shared_ptr<Mark> at) noexcept {
    std::lock_guard lock{mutex};
    ++done;
    mark = std::move(at);
    time = std::chrono::steady_clock::now();
    changed.notify_all();
}

std::shared_ptr<Mark> EventState::wait_for_mark(uint64_t records) {
    std::unique_lock lock{mutex};
    changed.wait(lock, [&] { return done >= records; });
    return mark;
}

void EventState::wait(uint64_t records) {
    if (auto reached_by = wait_for_mark(records)) {
        reached_by->wait();
    }
}

StreamQueue::StreamQueue(std::shared_ptr<DeviceImpl> device, bool threaded,
                         std::optional<void *> native)
    : _state{std::make_shared<State>()} {
    _state->device = std::move(device);
    if (_state->device->accelerator) {
        _state->work = _state->device->accelerator->make_queue(native);
    }
    if (!threaded) {
        return;
    }
    try {
        _thread = std::thread{[state = _state] { work(*state); }};
    } catch (const std::system_error &error) {
        throw ResourceError{std::string{"no thread for an asynchronous stream: "} + error.what() +
                            "; a stream without `async` needs none"};
    }
}

StreamQueue::~StreamQueue() {
    if (!_thread.joinable()) {
        return;
    }
    if (_state->device->forked()) {
        // The thread stayed in the parent process, and its lock may be held forever: both are left alone.
        static_cast<void>(new auto{std::move(_thread)});
        static_cast<void>(new auto{std::move(_state)});
        return;
    }
    {
        std::lock_guard lock{_state->mutex};
        _state->stop = true;
        _state->changed.notify_all();
    }
    if (_thread.get_id() == std::this_thread::get_id()) {
        _thread.detach();
    } else {
        _thread.join();
    }
}

void StreamQueue::push(std::function<void()> command, Kind kind) {
    _state->device->check_process();
    if (!_thread.joinable()) {
        return command();
    }
    std::lock_guard lock{_state->mutex};
    _state->commands.push_back({std::move(command), kind});
    _state->changed.notify_all();
}

void StreamQueue::wait() {
    auto &state = *_state;
    state.device->check_process();
    if (!_thread.joinable()) {
        return state.work->synchronize();
    }
    if (_thread.get_id() == std::this_thread::get_id()) {
        throw StateError{"a callback synchronizes the stream that runs it, which would never end"};
    }
    std::unique_lock lock{state.mutex};
    state.changed.wait(lock, [&] { return state.commands.empty() && !state.busy; });
    if (state.error) {
        std::rethrow_exception(std::exchange(state.error, nullptr));
    }
    if (state.work) {
        state.work->synchronize();
    }
}

void StreamQueue::work(State &state) noexcept {
    std::unique_lock lock{state.mutex};
    while (true) {
        state.changed.wait(lock, [&] { return state.stop || !state.commands.empty(); });
        if (state.commands.empty()) {
            return;
        }
        auto command = std::move(state.commands.front());
        state.commands.pop_front();
        state.busy = true;
        bool skip = state.error && command.kind == Kind::SKIPPABLE;
        lock.unlock();
        std::exception_ptr error;
        try {
            if (!skip) {
                command.run();
            }
        } catch (...) {
            error = std::current_exception();
        }
        // What the command held goes before anyone learns that it is done.
        command.run = nullptr;
        lock.lock();
        state.busy = false;
        if (error && !state.error) {
            state.error = error;
        }
        state.changed.notify_all();
    }
}

}// namespace luisa::tile::runtime
