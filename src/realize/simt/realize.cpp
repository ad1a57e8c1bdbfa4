// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/realize.h"

#include "realize/simt/block_lowering.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace luisa::tile::simt {

using ir::Opcode;

namespace {

/// The largest number of elements that one step of a block deals out.
int64_t widest_step(const plan::Plan &plan, const plan::Block &block) {
    int64_t most = 1;
    auto within = [&](const ir::Operation &op) {
        for (const auto *region : op.regions()) {
            if (auto inner = plan.blocks.find(region); inner != plan.blocks.end()) {
                most = std::max(most, widest_step(plan, inner->second));
            }
        }
    };
    auto product = [](const std::vector<ir::DimExtent> &dims, int64_t from) {
        for (const auto &d : dims) {
            from = d.extent > 0 && from < (1 << 20) ? from * d.extent : from;
        }
        return from;
    };
    for (const auto &step : block.steps) {
        if (const auto *group = std::get_if<plan::LoopGroup>(&step)) {
            most = std::max(most, product(group->loops, 1));
        } else if (const auto *c = std::get_if<plan::Contraction>(&step)) {
            auto elements = product(c->roles.columns,
                                    product(c->roles.rows, product(c->roles.batch, 1)));
            most = std::max(most, elements / (int64_t{c->rows} * c->vectors));
        } else {
            within(*std::get<plan::Sequential>(step).op);
        }
    }
    return most;
}

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

/// How many threads a block has, and whether they work on an instance together: where no step has elements to
/// deal out, each takes instances of its own.
void BlockLowering::choose_team(const plan::Phase &phase, Phase &out) {
    const auto &block = phase.nest ? _plan->blocks.at(phase.nest->body()) : phase.block;
    auto widest = widest_step(*_plan, block);
    _alone_in_team = phase.nest && widest <= 1;
    auto wanted = _alone_in_team ? 128 : std::clamp<int64_t>(widest, 32, 256);
    _threads = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(wanted)));
    out.threads = _threads;
}

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
    _loop_marks.push_back(_write_count);
    _b.loop(_first_instance, count, _instance_step, {}, [&](ir::Value *instance, const Values &) {
        bind_task(nest, extents, instance);
        _b.forget_reads();
        lower_block(_plan->blocks.at(nest.body()));
        end_iteration(nest);
        return Values{};
    });
    _loop_marks.pop_back();
}

void BlockLowering::lower_phase(const plan::Phase &phase, const std::string &name, Phase &out) {
    choose_team(phase, out);
    begin_kernel(name);
    _root = phase.nest;
    out.function = name;
    out.instances = 1;
    if (phase.nest) {
        instance_loop(*phase.nest, out);
    } else {
        lower_block(phase.block);
    }
    auto &between = _scratch->definition()->get<ir::AddressPayload>();
    between.scale = std::max<int64_t>((_scratch_bytes + 127) / 128 * 128, 128);
    auto parts = _alone_in_team ? out.threads : 1;
    if (_alone_in_team && out.instances > 0) {
        out.instances = (out.instances + parts - 1) / parts;
    }
    out.scratch_bytes = _scratch_bytes ? static_cast<size_t>(between.scale * parts) : 0;
    out.shared_bytes = static_cast<size_t>(_shared_bytes);
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
