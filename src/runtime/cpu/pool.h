// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace luisa::tile::runtime {

/// Runs ranges of independent tasks on the calling thread and a set of workers. Chunks are claimed
/// from one word by compare-and-swap; the caller claims too and then waits for chunks that somebody
/// has begun, never for a worker that has not woken up. Idle workers spin for about a millisecond
/// (a dispatch soon after another one costs no wake-up), then sleep.
class Pool {
public:
    /// Tasks begin…end-1, called on some thread.
    using Function = void (*)(void *context, int64_t begin, int64_t end);

    /// `threads` counts the caller. Gets by with fewer when the system refuses to make them.
    explicit Pool(int threads);
    /// Waits for a run in progress on another thread.
    ~Pool();
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    [[nodiscard]] int threads() const noexcept { return static_cast<int>(_workers.size()) + 1; }
    /// True when all workers are awake, so that sharing work costs well under a microsecond.
    [[nodiscard]] bool hot() const noexcept {
        return _sleeping.load(std::memory_order_relaxed) == 0;
    }
    /// Runs tasks 0…count-1, `grain` at a time, and returns when all are done. Runs them on the
    /// calling thread alone inside a task and while another thread uses the pool. The first
    /// exception of a task ends the run early and comes out here; the pool stays usable.
    void run(int64_t count, int64_t grain, Function function, void *context);

private:
    static constexpr int64_t max_chunks = 0xffff;

    void work();
    bool claim(uint64_t &ticket) noexcept;
    bool has_work() const noexcept;
    void run_chunk(uint64_t ticket) noexcept;
    void drain() noexcept;
    void wake(int64_t chunks);

    // Epoch of the job (32 bits), its chunks (16), the next chunk to claim (16). A claim that
    // succeeds proves that the job below is the one of that epoch, and keeps it alive.
    alignas(64) std::atomic<uint64_t> _ticket{0};
    alignas(64) std::atomic<int64_t> _done{0};
    alignas(64) std::atomic<int> _sleeping{0};
    std::atomic<bool> _stop{false};

    Function _function = nullptr;
    void *_context = nullptr;
    int64_t _count = 0, _grain = 1;
    std::atomic<bool> _failed{false};
    std::exception_ptr _error;

    std::mutex _submit;///< held during a run
    std::mutex _sleep;
    std::condition_variable _wake;
    bool _spin = true;
    std::vector<std::thread> _workers;
};

}// namespace luisa::tile::runtime
