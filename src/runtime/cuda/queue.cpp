// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/queue.h"

#include "runtime/device.h"

#include <algorithm>
#include <cstring>

namespace luisa::tile::runtime::cuda {

namespace {

constexpr unsigned non_blocking = 1;
// A mark costs about as much as a launch, so that many share one.
constexpr size_t launches_a_mark = 32;
constexpr size_t launches_named = 8;
constexpr size_t report_records = 4096;
constexpr unsigned most_blocks = 0x7fffffff;

}// namespace

Queue::Queue(std::shared_ptr<const Context> context, std::shared_ptr<MemoryPool> pool,
             QueueOptions options)
    : _context{std::move(context)}, _pool{std::move(pool)}, _options{std::move(options)},
      _kept{std::make_shared<Kept>()} {
    if (_options.native) {
        _stream = static_cast<StreamHandle>(*_options.native);
    } else {
        Context::Current current{*_context};
        _context->check(_context->cu.stream_create(&_stream, non_blocking), "cuStreamCreate");
    }
    _holder = _pool->add_holder([kept = _kept] { kept->release_reached(); });
}

Queue::~Queue() {
    _pool->remove_holder(_holder);
    if (_context->abandoned()) {
        return;
    }
    finish();
    _kept->release_all();
}

/// Returns when nothing of this stream runs; errors are not asked for any more.
void Queue::finish() {
    try {
        if (_options.native) {
            // Its owner may have destroyed it by now; the device is there.
            Context::Current current{*_context};
            _context->cu.context_synchronize();
        } else {
            synchronize();
        }
    } catch (const std::exception &) {
        // Nobody asked for it.
    }
    if (_options.native) {
        return;
    }
    try {
        Context::Current current{*_context};
        _context->cu.stream_destroy(_stream);
    } catch (const Error &) {
        // A broken context has no streams.
    }
}

void Queue::launch(const ShaderImpl &shader, std::shared_ptr<const AcceleratorCode> code,
                   std::span<const uint64_t> words, std::span<const Argument> arguments,
                   SourceLoc loc) {
    run(shader.module->kernel()->name, std::static_pointer_cast<const Code>(std::move(code)), words,
        loc);
    for (const auto &argument : arguments) {
        if (argument.owner) {
            keep(argument.owner);
        }
    }
}

/// Memory of the pool is known; of other memory the driver tells whether it ever heard of it.
bool Queue::reaches(const Argument &argument) const {
    if (!argument.data || MemoryPool::is_own(argument.owner)) {
        return true;
    }
    Context::Current current{*_context};
    unsigned kind = 0;
    auto pointer = reinterpret_cast<DevicePointer>(argument.data);
    return _context->cu.pointer_get_attribute(&kind, MEMORY_TYPE, pointer) == SUCCESS;
}

void Queue::run(const std::string &name, std::shared_ptr<const Code> code,
                std::span<const uint64_t> words, SourceLoc loc) {
    require(words.size() == code->argument_words, "a launch with a wrong number of words");
    Context::Current current{*_context};
    std::vector<uint64_t> block(words.begin(), words.end());
    if (!code->reports.empty()) {
        auto buffer = report_buffer(*code);
        block.push_back(reinterpret_cast<uint64_t>(buffer.get()));
        _said.push_back({code, std::move(buffer)});
    }
    if (block.empty()) {
        block.push_back(0);
    }
    if (_launched.size() == launches_named) {
        _launched.erase(_launched.begin());
    }
    _launched.push_back({name, loc});
    ++_launches;
    for (const auto &phase : code->phases) {
        launch_phase(phase, name, block.data(), loc);
    }
    keep(std::move(code));
    if (_options.synchronous || (_options.native && !_said.empty())) {
        wait_for_stream();
    } else if (_kept->unmarked() >= launches_a_mark) {
        _kept->release_reached();
        _kept->mark(std::make_shared<EventMark>(_context, _stream, false));
    }
}

void Queue::launch_phase(const LoadedPhase &phase, const std::string &name, void *block,
                         SourceLoc loc) {
    if (phase.instances == 0) {
        return;
    }
    // Where each block needs scratch memory, no more of them than run at once.
    auto blocks = phase.instances < 0       ? phase.blocks
                  : phase.scratch_bytes > 0 ? std::min(phase.instances, phase.blocks)
                                            : std::min<int64_t>(phase.instances, most_blocks);
    auto scratch = phase.scratch_bytes > 0
                       ? _pool->allocate(static_cast<size_t>(blocks) * phase.scratch_bytes)
                       : nullptr;
    auto address = reinterpret_cast<uint64_t>(scratch.get());
    void *arguments[] = {block, &address};
    auto result = _context->cu.launch_kernel(
        phase.function, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(phase.threads),
        1, 1, static_cast<unsigned>(phase.shared_bytes), _stream, arguments, nullptr);
    if (scratch) {
        keep(scratch);
    }
    if (result == SUCCESS) {
        return;
    }
    auto text = "kernel '" + name + "' does not start on " + _context->name + ": " +
                _context->cu.text(result);
    if (_context->note_sticky(result, text)) {
        fail(result, "cuLaunchKernel");
    }
    throw_error(result == LAUNCH_OUT_OF_RESOURCES ? ErrorKind::RESOURCE : ErrorKind::DEVICE,
                text + "; " + std::to_string(blocks) + " blocks of " +
                    std::to_string(phase.threads) + " threads with " +
                    std::to_string(phase.shared_bytes) + " bytes of shared memory",
                loc);
}

/// Room for what a launch says; its head is written before the launch, in the stream's order.
std::shared_ptr<void> Queue::report_buffer(const Code &code) {
    auto words = emit::report_header_words + report_records * (1 + code.report_values);
    auto buffer = _pool->allocate(words * sizeof(uint64_t));
    uint64_t head[emit::report_header_words] = {0, report_records};
    copy_run(reinterpret_cast<DevicePointer>(buffer.get()), reinterpret_cast<char *>(head),
             sizeof head, false);
    return buffer;
}

void Queue::deliver(const Said &said) {
    auto base = reinterpret_cast<DevicePointer>(said.buffer.get());
    uint64_t head[emit::report_header_words] = {};
    copy_run(base, reinterpret_cast<char *>(head), sizeof head, true);
    auto stride = 1 + said.code->report_values;
    auto count = std::min<uint64_t>(head[0], report_records);
    std::vector<uint64_t> records(count * stride);
    if (count > 0) {
        copy_run(base + sizeof head, reinterpret_cast<char *>(records.data()),
                 records.size() * sizeof(uint64_t), true);
    }
    for (uint64_t i = 0; i < count; ++i) {
        const auto *record = &records[i * stride];
        const auto &report = said.code->reports.at(record[0]);
        auto text = ir::text_of(report, {record + 1, report.types.size()});
        if (report.is_assertion) {
            throw AssertionError{std::move(text), report.loc};
        }
        _options.print(text);
    }
    if (head[0] > count) {
        _options.print("… and " + std::to_string(head[0] - count) +
                       " lines more than a launch has room for");
    }
}

std::shared_ptr<Mark> Queue::record() {
    Context::Current current{*_context};
    return std::make_shared<EventMark>(_context, _stream, true);
}

void Queue::wait(const std::shared_ptr<Mark> &mark) {
    if (auto event = std::dynamic_pointer_cast<EventMark>(mark)) {
        Context::Current current{*_context};
        _context->check(_context->cu.stream_wait_event(_stream, event->handle(), 0),
                        "cuStreamWaitEvent");
        keep(event);
    } else {
        mark->wait();
    }
}

void Queue::synchronize() { wait_for_stream(); }

void Queue::wait_for_stream() {
    Context::Current current{*_context};
    if (auto result = _context->cu.stream_synchronize(_stream); result != SUCCESS) {
        fail(result, "cuStreamSynchronize");
    }
    _kept->release_all();
    _launched.clear();
    _launches = 0;
    for (auto &mark : _staged) {
        mark = nullptr;
    }
    auto said = std::move(_said);
    _said.clear();
    for (const auto &each : said) {
        deliver(each);
    }
}

/// The driver tells late what a kernel did: names those that it may have been.
void Queue::fail(int result, const char *call) {
    auto text = _context->cu.text(result);
    if (_launched.empty()) {
        _context->check(result, call);
    }
    auto last = _launched.back();
    auto message = _launches == 1 ? "kernel '" + last.name + "' failed on " + _context->name + ": "
                                  : "one of the " + std::to_string(_launches) +
                                        " kernels since the last synchronization failed on " +
                                        _context->name + ": ";
    message += text;
    if (_launches > 1) {
        message += "; DeviceOptions::validate waits for each and tells which";
    }
    std::vector<Error::Note> notes;
    for (auto each = _launched.rbegin(); each != _launched.rend(); ++each) {
        notes.push_back({"kernel '" + each->name + "' was dispatched here", each->loc});
    }
    _context->note_sticky(result, message);
    _launched.clear();
    _launches = 0;
    _said.clear();
    throw DeviceError{message, last.loc, std::move(notes)};
}

}// namespace luisa::tile::runtime::cuda
