// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/pool.h"

#include "types/float_environment.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

namespace luisa::tile::runtime {

namespace {

thread_local bool inside_task = false;

class InsideTask {
public:
    InsideTask() noexcept { inside_task = true; }
    ~InsideTask() { inside_task = false; }
};

void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

constexpr uint64_t next_of(uint64_t ticket) noexcept { return ticket & 0xffff; }
constexpr uint64_t chunks_of(uint64_t ticket) noexcept { return (ticket >> 16) & 0xffff; }

}// namespace

Pool::Pool(int threads) {
    auto cores = static_cast<int>(std::thread::hardware_concurrency());
    // Spinning workers beyond the cores would only take time from the ones that work.
    _spin = threads <= std::max(cores, 1);
    for (int i = 1; i < threads; ++i) {
        try {
            _workers.emplace_back([this] { work(); });
        } catch (const std::system_error &) {
            break;
        }
    }
}

Pool::~Pool() {
    {
        std::lock_guard busy{_submit};
        std::lock_guard lock{_sleep};
        _stop.store(true);
        _wake.notify_all();
    }
    for (auto &worker : _workers) {
        worker.join();
    }
}

bool Pool::has_work() const noexcept {
    auto ticket = _ticket.load();
    return next_of(ticket) < chunks_of(ticket);
}

bool Pool::claim(uint64_t &ticket) noexcept {
    ticket = _ticket.load(std::memory_order_relaxed);
    while (next_of(ticket) < chunks_of(ticket)) {
        if (_ticket.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

void Pool::run_chunk(uint64_t ticket) noexcept {
    if (!_failed.load(std::memory_order_relaxed)) {
        auto begin = static_cast<int64_t>(next_of(ticket)) * _grain;
        auto end = _count - begin < _grain ? _count : begin + _grain;
        try {
            _function(_context, begin, end);
        } catch (...) {
            if (!_failed.exchange(true)) {
                _error = std::current_exception();
            }
        }
    }
    _done.fetch_add(1, std::memory_order_release);
}

void Pool::drain() noexcept {
    InsideTask inside;
    uint64_t ticket;
    while (claim(ticket)) {
        run_chunk(ticket);
    }
}

void Pool::work() {
    using namespace std::chrono;
    DefaultFloatEnvironment environment;
    while (true) {
        drain();
        auto until = steady_clock::now() + milliseconds{_spin ? 1 : 0};
        bool work = false;
        do {
            for (int i = 0; i < 64 && !work; ++i) {
                pause();
                work = has_work();
            }
        } while (!work && !_stop.load(std::memory_order_relaxed) && steady_clock::now() < until);
        if (work) {
            continue;
        }
        std::unique_lock lock{_sleep};
        // Counted before the word is looked at; `wake` looks at the count after it has set the word.
        _sleeping.fetch_add(1);
        _wake.wait(lock, [this] { return has_work() || _stop.load(); });
        _sleeping.fetch_sub(1);
        if (_stop.load()) {
            return;
        }
    }
}

void Pool::wake(int64_t chunks) {
    auto sleeping = static_cast<int64_t>(_sleeping.load());
    auto wanted = std::min(sleeping, chunks - 1);
    if (wanted > 0) {
        std::lock_guard lock{_sleep};
        for (int64_t i = 0; i < wanted; ++i) {
            _wake.notify_one();
        }
    }
}

void Pool::run(int64_t count, int64_t grain, Function function, void *context) {
    if (count <= 0) {
        return;
    }
    grain = std::max<int64_t>(grain, 1);
    grain = std::max(grain, count / max_chunks + (count % max_chunks != 0));
    auto chunks = count / grain + (count % grain != 0);
    std::unique_lock<std::mutex> busy{_submit, std::defer_lock};
    if (inside_task || _workers.empty() || chunks == 1 || !busy.try_lock()) {
        function(context, 0, count);
        return;
    }
    _function = function;
    _context = context;
    _count = count;
    _grain = grain;
    _failed.store(false, std::memory_order_relaxed);
    _done.store(0, std::memory_order_relaxed);
    auto epoch = (_ticket.load(std::memory_order_relaxed) >> 32) + 1;
    _ticket.store(epoch << 32 | static_cast<uint64_t>(chunks) << 16);
    wake(chunks);
    drain();
    for (int i = 0; _done.load(std::memory_order_acquire) != chunks; ++i) {
        if (i < 4096) {
            pause();
        } else {
            std::this_thread::yield();
        }
    }
    if (_failed.load(std::memory_order_relaxed)) {
        std::rethrow_exception(std::exchange(_error, nullptr));
    }
}

}// namespace luisa::tile::runtime
