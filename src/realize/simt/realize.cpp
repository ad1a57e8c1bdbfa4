// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/realize.h"

#include "realize/simt/barriers.h"
#include "realize/simt/block_lowering.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace luisa::tile::simt {

using ir::Opcode;

namespace {

/// A kernel's name in the letters that PTX has for names.
std::string entry_name(std::string name) {
    for (auto &c : name) {
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        c = letter || c == '_' ? c : '_';
    }
    bool begins = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && name[0] != '_';
    return begins ? name : "kernel_" + name;
}

}// namespace

void BlockLowering::instance_loop(const ir::Operation &nest, Phase &out) {
    auto extents = domain_extents(nest);
    int64_t known = 0;
    auto *count = _b.index(1);
    for (auto *extent : extents) {
        bool is_static = MachineBuilder::is_constant(extent, known);
        if (is_static && out.instances >= 0 &&
            __builtin_mul_overflow(out.instances, std::max<int64_t>(known, 0), &out.instances)) {
            throw ValueError{"the domain has more than 2^63 instances", nest.loc};
        }
        out.instances = is_static ? out.instances : -1;
        count = _b.mul(count, _b.maximum(extent, _b.index(0)));
    }
    auto parts = _split ? _split->parts : 1;
    out.instances = out.instances >= 0 ? out.instances * parts : out.instances;
    count = _b.mul(count, _b.index(parts));
    begin_bins(nest, count);
    _loop_marks.push_back(_write_count);
    _b.loop(_first_instance, count, _instance_step, {}, [&](ir::Value *instance, const Values &) {
        if (_split) {
            auto *part = _b.rem(instance, _b.index(parts));
            _part_start = _b.mul(part, _b.index(_split->extent));
            instance = _b.div(instance, _b.index(parts));
        }
        bind_task(nest, extents, instance);
        _b.forget_reads();
        lower_versions(*nest.body(), _plan->blocks.at(nest.body()));
        end_iteration(nest);
        return Values{};
    });
    _loop_marks.pop_back();
    finish_bins();
}

/// The parts of what is no `parallel`.
void BlockLowering::part_loop(const plan::Phase &phase, Phase &out) {
    out.instances = _split->parts;
    _loop_marks.push_back(_write_count);
    _b.loop(_first_instance, _b.index(_split->parts), _instance_step, {},
            [&](ir::Value *part, const Values &) {
                _part_start = _b.mul(part, _b.index(_split->extent));
                _b.forget_reads();
                lower_versions(*_plan->kernel->body, phase.block);
                if (_write_count != _loop_marks.back() && !_touched.empty()) {
                    barrier();
                }
                return Values{};
            });
    _loop_marks.pop_back();
}

void BlockLowering::lower_phase(const plan::Phase &phase, const std::string &name, Phase &out) {
    _alone_in_team = phase.alone;
    _threads = out.threads = phase.threads;
    begin_kernel(name);
    _root = phase.nest;
    reserve_orders(phase);
    _split = phase.split ? &*phase.split : nullptr;
    out.function = name;
    out.instances = 1;
    if (phase.nest) {
        instance_loop(*phase.nest, out);
    } else if (_split) {
        part_loop(phase, out);
    } else {
        lower_versions(*_plan->kernel->body, phase.block);
    }
    auto &between = _scratch->definition()->get<ir::AddressPayload>();
    between.scale = std::max<int64_t>((_scratch_bytes + 127) / 128 * 128, 128);
    auto parts = _alone_in_team ? out.threads : 1;
    if (_alone_in_team && out.instances > 0) {
        out.instances = (out.instances + parts - 1) / parts;
    }
    out.scratch_bytes = _scratch_bytes ? static_cast<size_t>(between.scale * parts) : 0;
    out.shared_bytes = static_cast<size_t>(_shared_bytes);
    for (const auto *parameter : _plan->kernel->body->arguments()) {
        if (!_plan->may_alias && parameter->type()->is_view() && parameter->type()->read_only) {
            out.constant_views.push_back(static_cast<int64_t>(_argument_words.at(parameter)));
        }
    }
    remove_needless_barriers(_b.module(), _b.module().functions().back(),
                             {_threads, _plan->may_alias});
    out.resident = std::max(_resident, phase.resident);
}

Program realize(const plan::Plan &plan) {
    require(plan.team, "a plan for teams of threads");
    Program program;
    program.machine = std::make_unique<ir::Module>(ir::Form::MACHINE);
    BlockLowering lowering{plan, *program.machine};
    for (size_t i = 0; i < plan.phases.size(); ++i) {
        auto name = entry_name(plan.kernel->name) +
                    (plan.phases.size() > 1 ? "$" + std::to_string(i) : "");
        lowering.lower_phase(plan.phases[i], name, program.phases.emplace_back());
    }
    program.reports = lowering.take_reports();
    return program;
}

}// namespace luisa::tile::simt
