// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/code.h"

#include <algorithm>
#include <cstring>

namespace luisa::tile::runtime::cuda {

namespace {

/// The driver's linker, which is also its assembler: it gives what can be kept.
class Link {
public:
    explicit Link(const Context &context) : _context{context} {
        int names[] = {LINK_ERROR_LOG, LINK_ERROR_LOG_BYTES, LINK_TARGET_FROM_CONTEXT};
        void *values[] = {_log, reinterpret_cast<void *>(sizeof _log), nullptr};
        context.check(context.cu.link_create(3, names, values, &_handle), "cuLinkCreate");
    }
    ~Link() { _context.cu.link_destroy(_handle); }
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;

    std::string run(const std::string &ptx) {
        // The size counts the end of the text.
        auto result = _context.cu.link_add_data(_handle, LINK_PTX, const_cast<char *>(ptx.c_str()),
                                                ptx.size() + 1, "kernel.ptx", 0, nullptr, nullptr);
        void *image = nullptr;
        size_t bytes = 0;
        if (result == SUCCESS) {
            result = _context.cu.link_complete(_handle, &image, &bytes);
        }
        if (result != SUCCESS) {
            fail(result);
        }
        return {static_cast<const char *>(image), bytes};
    }

private:
    [[noreturn]] void fail(int result) const {
        auto text = "the driver of " + _context.name + " does not assemble generated PTX for " +
                    _context.facts.name + ": " + _context.cu.text(result);
        _context.note_sticky(result, text);
        if (_log[0]) {
            text += std::string{"\n"} + _log;
        }
        throw CompileError{text};
    }

    const Context &_context;
    LinkHandle _handle = nullptr;
    char _log[8192] = {};
};

}// namespace

std::string assemble(const Context &context, const std::string &ptx) {
    Context::Current current{context};
    return Link{context}.run(ptx);
}

Code::Code(std::shared_ptr<const Context> context, compiler::CudaObject &object)
    : reports{object.reports}, argument_words{object.argument_words},
      report_values{object.report_values}, _context{std::move(context)} {
    if (object.cubin.empty()) {
        assemble_and_load(object);
    } else {
        Context::Current current{*_context};
        check_loaded(_context->cu.module_load_data(&_module, object.cubin.data()),
                     object.cubin.size());
    }
    Context::Current current{*_context};
    try {
        for (const auto &phase : object.phases) {
            phases.push_back(prepare(phase));
        }
    } catch (...) {
        _context->cu.module_unload(_module);
        throw;
    }
    about.plan = object.plan;
    for (const auto &phase : object.phases) {
        about.scratch_bytes = std::max(about.scratch_bytes, phase.scratch_bytes);
        about.shared_bytes = std::max(about.shared_bytes, phase.shared_bytes);
    }
}

/// By way of machine code that can be kept. A driver whose linker does not know the architecture may still load
/// the PTX itself; nothing is kept then.
void Code::assemble_and_load(compiler::CudaObject &object) {
    Context::Current current{*_context};
    try {
        object.cubin = assemble(*_context, object.ptx);
    } catch (const CompileError &) {
        if (_context->cu.module_load_data(&_module, object.ptx.c_str()) != SUCCESS) {
            throw;
        }
        return;
    }
    check_loaded(_context->cu.module_load_data(&_module, object.cubin.data()), object.cubin.size());
}

void Code::check_loaded(int result, size_t bytes) const {
    if (result == OUT_OF_MEMORY) {
        throw OutOfMemoryError{"no memory on " + _context->name + " for a kernel of " +
                               std::to_string(bytes) + " bytes"};
    }
    if (result != SUCCESS) {
        throw CompileError{"code for " + std::string{_context->facts.name} + " does not load on " +
                           _context->name + ": " + _context->cu.text(result)};
    }
}

Code::~Code() {
    if (_context->abandoned()) {
        return;
    }
    try {
        Context::Current current{*_context};
        _context->cu.module_unload(_module);
    } catch (const Error &) {
        // A broken context has no modules.
    }
}

LoadedPhase Code::prepare(const simt::Phase &phase) {
    const auto &cu = _context->cu;
    const auto &facts = _context->facts;
    LoadedPhase p;
    p.instances = phase.instances;
    p.threads = phase.threads;
    p.shared_bytes = phase.shared_bytes;
    p.scratch_bytes = phase.scratch_bytes;
    _context->check(cu.module_get_function(&p.function, _module, phase.function.c_str()),
                    "cuModuleGetFunction");
    auto shared = static_cast<int64_t>(phase.shared_bytes);
    if (shared > facts.shared_per_block) {
        throw ResourceError{"function '" + phase.function + "' needs " + std::to_string(shared) +
                            " bytes of shared memory a block, " + _context->name + " has " +
                            std::to_string(facts.shared_per_block)};
    }
    if (shared > facts.shared_by_default) {
        _context->check(cu.function_set_attribute(p.function, FUNCTION_DYNAMIC_SHARED_BYTES,
                                                  static_cast<int>(shared)),
                        "cuFuncSetAttribute");
    }
    int registers = 0;
    _context->check(cu.function_get_attribute(&registers, FUNCTION_REGISTERS, p.function),
                    "cuFuncGetAttribute");
    auto resident = facts.resident_blocks(p.threads, registers, shared);
    if (resident == 0) {
        throw ResourceError{"function '" + phase.function + "' has blocks of " +
                            std::to_string(p.threads) + " threads with " +
                            std::to_string(registers) + " registers each, more than " +
                            _context->name + " holds"};
    }
    p.blocks = int64_t{resident} * facts.multiprocessors;
    return p;
}

}// namespace luisa::tile::runtime::cuda
