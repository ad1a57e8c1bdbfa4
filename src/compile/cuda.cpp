// SPDX-License-Identifier: Apache-2.0
#include "compile/cuda.h"

#include <luisa/tile/error.h>

#include "cache/build.h"
#include "compile/blocks.h"
#include "compile/bytes.h"
#include "realize/cpu/program.h"

namespace luisa::tile::compiler {

namespace {

// Counts changes of what a launch hands to a kernel, and of the bytes below, that no source shows.
constexpr int cuda_abi_version = 1;

template<class Stream, class Object> void describe_cuda(Stream &s, Object &object) {
    s.text(object.plan);
    s.number(object.argument_words);
    s.number(object.report_values);
    s.list(object.phases, [&](auto &phase) {
        s.text(phase.function);
        s.number(phase.instances);
        s.number(phase.threads);
        s.number(phase.shared_bytes);
        s.number(phase.scratch_bytes);
    });
    s.list(object.reports, [&](auto &report) { describe_report(s, report); });
    s.text(object.ptx);
    s.text(object.cubin);
}

}// namespace

CudaObject compile_cuda(const ir::Module &candidate, const CudaOptions &options, CudaTimes *times) {
    CudaTimes own;
    auto &spent = times ? *times : own;
    BlockOptions how;
    how.may_alias = options.may_alias;
    how.gpu = &options.facts;
    auto forms = realize_blocks(candidate, how);
    spent.plan_ms = forms.plan_ms;
    spent.realize_ms = forms.realize_ms;
    auto object = make_cuda_object(*forms.program.machine, std::move(forms.program.phases),
                                   argument_words(candidate), options, &spent.emit);
    object.reports = std::move(forms.program.reports);
    object.plan = std::move(forms.plan);
    return object;
}

CudaObject make_cuda_object(const ir::Module &machine, std::vector<simt::Phase> phases,
                            size_t argument_words, const CudaOptions &options,
                            emit::EmitTimes *times) {
    auto how = gpu_options(phases, argument_words, options.facts, options.ptx_isa);
    auto code = emit::generate_ptx(machine, how, times);
    CudaObject object;
    object.ptx = std::move(code.ptx);
    object.phases = std::move(phases);
    object.argument_words = argument_words;
    object.report_values = code.report_values;
    return object;
}

emit::GpuOptions gpu_options(const std::vector<simt::Phase> &phases, size_t argument_words,
                             const target::CudaFacts &facts, int ptx_isa) {
    emit::GpuOptions how;
    how.target = &facts;
    how.ptx_isa = ptx_isa;
    how.argument_words = argument_words;
    for (const auto &phase : phases) {
        how.kernels.push_back(
            {phase.function, phase.threads, phase.resident, phase.constant_views});
    }
    return how;
}

size_t argument_words(const ir::Module &candidate) {
    size_t words = 0;
    for (auto *parameter : candidate.kernel()->body->arguments()) {
        words += cpu::argument_words(*parameter->type());
    }
    return words;
}

std::string key_text(const ir::Module &candidate, const std::string &canonical_text,
                     const CudaOptions &options) {
    const auto &f = options.facts;
    std::string text = "luisa-tile kernel for a GPU\n";
    auto line = [&](const char *name, const std::string &value) {
        text += std::string{name} + ' ' + value + '\n';
    };
    line("build", cache::build_id());
    line("abi", std::to_string(cuda_abi_version));
    line("generator", emit::generator_name());
    line("architecture", f.name);
    line("ptx", std::to_string(options.ptx_isa));
    line("driver", std::to_string(options.driver_version));
    // What a plan may depend on and cards of one architecture differ in.
    line("multiprocessors", std::to_string(f.multiprocessors));
    line("threads", std::to_string(f.threads_per_multiprocessor));
    line("registers", std::to_string(f.registers_per_multiprocessor));
    line("shared",
         std::to_string(f.shared_per_block) + " of " + std::to_string(f.shared_per_multiprocessor));
    line("l2_bytes", std::to_string(f.l2_bytes));
    line("may_alias", std::to_string(static_cast<int>(options.may_alias)));
    line("locations", location_hash(candidate));
    return text + canonical_text;
}

std::string to_bytes(const CudaObject &object) {
    Writer writer;
    describe_cuda(writer, object);
    return std::move(writer.bytes);
}

bool from_bytes(std::string_view bytes, CudaObject &object) {
    Reader reader{bytes};
    describe_cuda(reader, object);
    return reader.done();
}

}// namespace luisa::tile::compiler
