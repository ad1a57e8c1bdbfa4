// SPDX-License-Identifier: Apache-2.0
#include "frontend/capture.h"

#include "frontend/canonical.h"
#include "frontend/kernel_access.h"
#include "ir/disjoint.h"
#include "ir/initialisation.h"
#include "ir/text.h"
#include "ir/tree_reduction.h"
#include "ir/verifier.h"

#include <algorithm>
#include <atomic>

namespace luisa::tile {

namespace core {

namespace {

// Behind functions of this library: an inline variable would exist once a shared object.
thread_local Capture *this_thread = nullptr;
std::atomic<uint64_t> next_capture{1};

}// namespace

Capture *current_or_null() noexcept { return this_thread; }

Capture *exchange_current(Capture *capture) noexcept {
    auto *previous = this_thread;
    this_thread = capture;
    return previous;
}

Capture &current(SourceLoc loc) {
    if (!this_thread) {
        throw CaptureError{
            "no kernel is being captured on this thread; tile operations run inside a "
            "tile_kernel lambda, on the thread that captures it",
            loc};
    }
    if (this_thread->failure) {
        std::rethrow_exception(this_thread->failure);
    }
    return *this_thread;
}

uint64_t capture_number() noexcept { return this_thread ? this_thread->id : 0; }

void require_capture(uint64_t number, SourceLoc made, SourceLoc loc) {
    if (number != current(loc).id) {
        fail(ErrorKind::OWNERSHIP,
             "this value belongs to another capture; pass data between kernels through views", loc,
             {{"made here", made}});
    }
}

void fail(ErrorKind kind, std::string message, SourceLoc loc, std::vector<Error::Note> notes) {
    try {
        throw_error(kind, std::move(message), loc, std::move(notes));
    } catch (...) {
        if (this_thread && !this_thread->failure) {
            this_thread->failure = std::current_exception();
        }
        throw;
    }
}

Capture::Capture(const KernelOptions &options, SourceLoc loc)
    : id{next_capture++}, options{options}, loc{loc}, module{std::make_shared<ir::Module>()},
      builder{*module} {
    auto *function = module->add_function(options.name, loc);
    function->noalias = options.noalias;
    auto *holder = module->create(ir::Opcode::MAP, {}, {}, ir::None{}, loc, 1);
    placeholders = holder->body();
    auto &root = regions.emplace_back();
    root.region = function->body;
    root.loc = loc;
    current = &root;
    builder.set_region(function->body);
}

void require_visible(Capture &c, const std::vector<Value *> &operands, SourceLoc loc) {
    for (auto *operand : operands) {
        auto *region = operand->region();
        if (region != c.placeholders && !region->encloses(c.current->region)) {
            auto *op = operand->definition();
            fail(ErrorKind::SCOPE,
                 "this value was made inside a nest and is used after it; assign it to a variable "
                 "declared before the nest",
                 loc,
                 op ? std::vector<Error::Note>{{"made here", op->loc}}
                    : std::vector<Error::Note>{});
        }
    }
}

ir::Operation *emit(Capture &c, ir::Opcode op, const std::vector<Value *> &operands,
                    const std::vector<const ir::Type *> &results, ir::Payload payload,
                    SourceLoc loc, size_t regions) {
    require_visible(c, operands, loc);
    c.builder.loc = loc;
    auto *operation = c.builder.emit(op, operands, results, std::move(payload), regions);
    return operation;
}

Value *emit_value(Capture &c, ir::Opcode op, const std::vector<Value *> &operands,
                  const ir::Type *result, ir::Payload payload, SourceLoc loc) {
    return emit(c, op, operands, {result}, std::move(payload), loc)->result();
}

NestRegion *open_region(Capture &c, const char *kind, ir::Operation *owner, ir::Region *region,
                        SourceLoc loc) {
    auto &opened = c.regions.emplace_back();
    opened.kind = kind;
    opened.parent = c.current;
    opened.owner = owner;
    opened.region = region;
    opened.loc = loc;
    c.current = &opened;
    c.builder.set_region(region);
    return &opened;
}

/// Trees merge partial results: every state of one must tell how.
static void check_trees(const ir::Region &region) {
    for (auto *op : region) {
        for (auto *inner : op->regions()) {
            check_trees(*inner);
        }
        if (op->opcode() != ir::Opcode::REDUCE) {
            continue;
        }
        auto policy = op->get<ir::NestPayload>().policy;
        if (policy != ReductionPolicy::UNORDERED_TREE && policy != ReductionPolicy::ORDERED_TREE) {
            continue;
        }
        auto problem = ir::tree_problem(*op);
        if (!problem.message.empty()) {
            fail(ErrorKind::CALL, problem.message, op->loc, {{"here", problem.at->loc}});
        }
    }
}

static void check_initialised(const ir::Module &module) {
    auto early = ir::find_early_read(module);
    if (!early) {
        return;
    }
    std::vector<Error::Note> notes{{"Memory made here", early->alloc->loc}};
    if (early->skipped) {
        notes.push_back({"this nest stores to it, but may run zero times", early->skipped->loc});
    }
    if (!early->gap.empty()) {
        std::string at;
        for (auto c : early->gap) {
            at += (at.empty() ? "(" : ", ") + std::to_string(c);
        }
        throw ScopeError{"a Memory is read where nothing was stored, at element " + at +
                             "); store every element before, or load the part that was stored",
                         early->read->loc, std::move(notes)};
    }
    throw ScopeError{"a Memory is read before anything was certainly stored to it; store first",
                     early->read->loc, std::move(notes)};
}

Capture::~Capture() {
    auto release = [](Variable *v) {
        if (--v->references == 0) {
            delete v;
        }
    };
    for (auto &region : regions) {
        std::for_each(region.touched.begin(), region.touched.end(), release);
    }
    for (auto &[place, v] : objects) {
        release(v);
    }
    // An error left these branches before their sides were merged.
    for (auto &open : ifs) {
        for (auto &[v, entry] : open.then_written) {
            release(v);
        }
    }
}

struct CaptureScope::State {
    State(const KernelOptions &options, SourceLoc loc) : capture{options, loc} {}
    Capture capture;
    Capture *previous = nullptr;
};

CaptureScope::CaptureScope(const KernelOptions &options, SourceLoc loc)
    : _state{std::make_unique<State>(options, loc)} {
    _state->previous = exchange_current(&_state->capture);
}

CaptureScope::~CaptureScope() { exchange_current(_state->previous); }

Kernel CaptureScope::finish() {
    auto &c = _state->capture;
    if (c.failure) {
        std::rethrow_exception(c.failure);
    }
    if (c.current != &c.regions.front()) {
        throw CaptureError{
            std::string{"the body of this `"} + c.current->kind +
                "` was left by an exception that did not end the kernel; let it end the "
                "capture",
            c.current->loc};
    }
    prune(*c.module);
    check_trees(*c.module->kernel()->body);
    canonicalize(*c.module);
    check_initialised(*c.module);
    for (auto &region : c.regions) {
        region.open = false;
    }
    ir::check_stores(*c.module);
    return make_kernel(c.module);
}

ViewHandle CaptureScope::tensor(ScalarType type, bool read_only, int rank, const TensorMeta &meta,
                                SourceLoc loc) {
    auto &c = _state->capture;
    auto number = c.module->kernel()->body->arguments().size();
    if (static_cast<int>(meta.extents.size()) != rank) {
        fail(ErrorKind::CALL,
             "parameter " + std::to_string(number) + " is a view of rank " + std::to_string(rank) +
                 ", its tensor_shape has rank " + std::to_string(meta.extents.size()),
             loc);
    }
    if (!meta.strides.empty() && meta.strides.size() != meta.extents.size()) {
        fail(ErrorKind::CALL,
             "parameter " + std::to_string(number) + " has " + std::to_string(meta.extents.size()) +
                 " extents and " + std::to_string(meta.strides.size()) + " strides",
             loc);
    }
    ir::Type view;
    view.kind = ir::TypeKind::VIEW;
    view.scalar = type;
    view.read_only = read_only;
    view.strides = meta.strides;
    for (const auto &extent : meta.extents) {
        if (!extent.name && extent.value < 0) {
            fail(ErrorKind::VALUE,
                 "extent must be >= 0, got " + std::to_string(extent.value) + " in parameter " +
                     std::to_string(number),
                 loc);
        }
        view.axes.push_back(
            {extent.name ? ir::runtime_value : extent.value, extent.name ? extent.name : ""});
    }
    auto handle = std::make_shared<ViewInfo>();
    auto &info = *handle;
    info.capture = c.id;
    info.parameter = c.module->add_argument(c.module->kernel()->body, c.module->intern(view));
    for (size_t i = 0; i < meta.extents.size(); ++i) {
        if (meta.extents[i].name) {
            auto *value = emit_value(c, ir::Opcode::EXTENT, {info.parameter},
                                     c.module->scalar(ScalarType::INT64),
                                     ir::IndexPayload{static_cast<int64_t>(i)}, loc);
            info.extents.emplace_back(value, loc);
        } else {
            info.extents.emplace_back(meta.extents[i].value, loc);
        }
    }
    return handle;
}

Value *CaptureScope::scalar(ScalarType type) {
    auto &c = _state->capture;
    return c.module->add_argument(c.module->kernel()->body, c.module->scalar(type));
}

}// namespace core

Kernel make_kernel(std::shared_ptr<const ir::Module> module) {
    ir::verify(*module);
    auto impl = std::make_shared<KernelImpl>();
    impl->text = ir::print(*module);
    impl->module = std::move(module);
    return Kernel{std::move(impl)};
}

const std::shared_ptr<const ir::Module> &module_of(const Kernel &kernel) {
    if (!kernel.impl()) {
        throw CaptureError{"this Kernel is empty: capture a definition or parse a text first"};
    }
    return kernel.impl()->module;
}

const std::string &canonical_text(const Kernel &kernel) {
    (void)module_of(kernel);
    return kernel.impl()->text;
}

std::string Kernel::ir_text(bool locations) const {
    if (!locations) {
        return canonical_text(*this);
    }
    ir::PrintOptions options;
    options.locations = true;
    return ir::print(*module_of(*this), options);
}

const std::string &Kernel::name() const { return module_of(*this)->kernel()->name; }

Kernel parse_kernel(const std::string &text, const std::string &file_name) {
    return make_kernel(std::shared_ptr<const ir::Module>{ir::parse(text, file_name)});
}

}// namespace luisa::tile
