// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/accelerator.h"
#include "runtime/cuda/code.h"
#include "runtime/cuda/memory.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace luisa::tile::runtime::cuda {

/// A place in a stream of the driver.
class EventMark : public Mark {
public:
    /// Records it. Without `timing` it is cheaper and has no time.
    EventMark(std::shared_ptr<const Context> context, StreamHandle stream, bool timing);
    ~EventMark() override;
    EventMark(const EventMark &) = delete;
    EventMark &operator=(const EventMark &) = delete;
    void wait() override;
    [[nodiscard]] bool milliseconds_since(const Mark &earlier, double &out) const override;
    /// Whether it was reached; true when that can no longer be known.
    [[nodiscard]] bool reached() const noexcept;
    [[nodiscard]] EventHandle handle() const noexcept { return _event; }

private:
    std::shared_ptr<const Context> _context;
    EventHandle _event = nullptr;
};

/// Objects that work on a stream still uses, in order. Thread safe.
class Kept {
public:
    void add(std::shared_ptr<const void> owner);
    /// How many were added since the last mark.
    [[nodiscard]] size_t unmarked() const;
    /// What was added so far may go when `mark` is reached.
    void mark(std::shared_ptr<EventMark> mark);
    /// Lets go what marks that were reached stand for.
    void release_reached();
    /// Lets everything go: the stream has finished.
    void release_all();

private:
    struct Batch {
        std::vector<std::shared_ptr<const void>> owners;
        std::shared_ptr<EventMark> mark;
    };
    mutable std::mutex _mutex;
    std::vector<std::shared_ptr<const void>> _open;
    std::deque<Batch> _batches;
};

struct QueueOptions {
    bool synchronous = false;///< waits after each launch, so that errors name just that one
    std::function<void(const std::string &)> print;
    std::optional<void *>
        native{};///< a stream that others made and keep; kernels that report are waited for
};

/// A stream of the driver.
class Queue : public AcceleratorQueue {
public:
    Queue(std::shared_ptr<const Context> context, std::shared_ptr<MemoryPool> pool,
          QueueOptions options);
    ~Queue() override;
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;

    void copy(const CopyCommand &copy) override;
    void launch(const ShaderImpl &shader, std::shared_ptr<const AcceleratorCode> code,
                std::span<const uint64_t> words, std::span<const Argument> arguments,
                SourceLoc loc) override;
    [[nodiscard]] bool reaches(const Argument &argument) const override;
    void keep(std::shared_ptr<const void> owner) override { _kept->add(std::move(owner)); }
    [[nodiscard]] std::shared_ptr<Mark> record() override;
    void wait(const std::shared_ptr<Mark> &mark) override;
    void synchronize() override;

    /// `launch` without a shader: `name` is what errors call it.
    void run(const std::string &name, std::shared_ptr<const Code> code,
             std::span<const uint64_t> words, SourceLoc loc);

private:
    /// A launch that an error may be due to.
    struct Launched {
        std::string name;
        SourceLoc loc;
    };
    /// What a launch may have said.
    struct Said {
        std::shared_ptr<const Code> code;
        std::shared_ptr<void> buffer;
    };
    void launch_phase(const LoadedPhase &phase, const std::string &name, void *block,
                      SourceLoc loc);
    std::shared_ptr<void> report_buffer(const Code &code);
    void wait_for_stream();
    void finish();
    void deliver(const Said &said);
    [[noreturn]] void fail(int result, const char *call);
    void copy_rows(const CopyCommand &copy);
    void copy_run(DevicePointer device, char *host, size_t bytes, bool to_host);
    void copy_block(DevicePointer device, char *host, size_t width, size_t height, size_t pitch,
                    bool to_host);
    char *staging(size_t index);

    std::shared_ptr<const Context> _context;
    std::shared_ptr<MemoryPool> _pool;
    QueueOptions _options;
    StreamHandle _stream = nullptr;
    std::shared_ptr<Kept> _kept;
    int _holder = -1;
    std::vector<Launched>
        _launched;///< since the last time that the stream was waited for; the last few
    size_t _launches = 0;
    std::vector<Said> _said;
    std::unique_ptr<PinnedMemory> _staging[2];
    std::shared_ptr<EventMark> _staged[2];///< when the device has read it
    size_t _next_staging = 0;
};

}// namespace luisa::tile::runtime::cuda
