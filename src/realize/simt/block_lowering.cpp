// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/block_lowering.h"

#include <algorithm>
#include <bit>

namespace luisa::tile::simt {

using ir::Opcode;
using plan::LoopGroup;

namespace {

/// Of the shared memory of a block, kept values take this much at most.
constexpr int64_t shared_limit = 40 << 10;
/// Marks room in shared memory; other room is in the scratch memory of the block.
constexpr int64_t in_shared = int64_t{1} << 60;
constexpr int64_t panel_atom = target::panel_line * target::panel_lines;

int64_t aligned(int64_t bytes) { return (bytes + 15) / 16 * 16; }

}// namespace

void BlockLowering::begin_kernel(const std::string &name) {
    auto &module = _b.module();
    auto *function = module.add_function(name, _plan->kernel->loc);
    function->noalias = !_plan->may_alias;
    function->parameter_names = {"args", "scratch"};
    _args = module.add_argument(function->body, module.pointer());
    auto *launch_scratch = module.add_argument(function->body, module.pointer());
    _b.begin_function(*function);
    _b.forget_reads();
    _scalars.clear();
    _offsets.clear();
    _held.clear();
    _shared_bytes = _scratch_bytes = _kept_bytes = 0;
    _staging = _staging_bytes = 0;
    _order_room = 0;
    _only_one_order = false;
    _resident = 0;
    _kept_limit = shared_limit;
    if (auto [staged, permuted] = staged_bytes(); permuted) {
        // Beside small exchanges.
        _kept_limit = std::clamp<int64_t>(_plan->gpu->shared_per_block - staged - 4 * panel_atom, 0,
                                          shared_limit);
    }
    _touched = {};
    auto *i64 = module.scalar(ScalarType::INT64);
    auto number = [&](Opcode op, ir::ParticipantKind kind) {
        return _b.pure(op, {}, ir::ParticipantPayload{kind}, i64);
    };
    _thread = number(Opcode::PARTICIPANT, ir::ParticipantKind::THREAD);
    _first_instance = number(Opcode::PARTICIPANT, ir::ParticipantKind::BLOCK);
    _instance_step = number(Opcode::PARTICIPANTS, ir::ParticipantKind::BLOCK);
    if (_alone_in_team) {
        auto *threads = _b.index(_threads);
        _first_instance = _b.add(_b.mul(_first_instance, threads), _thread);
        _instance_step = _b.mul(_instance_step, threads);
        _thread = _b.index(0);
        _threads = 1;
    }
    // How far apart their parts are is known when all is placed.
    _scratch = _b.fixed(Opcode::ADDRESS, {launch_scratch, _first_instance},
                        ir::AddressPayload{1, 0}, module.pointer());
}

int64_t BlockLowering::allocate_bytes(int64_t bytes) {
    if (_kept_bytes + bytes <= _kept_limit && !_alone_in_team) {
        auto offset = _shared_bytes;
        _kept_bytes += aligned(bytes);
        _shared_bytes += aligned(bytes);
        return offset + in_shared;
    }
    auto offset = _scratch_bytes;
    _scratch_bytes += aligned(bytes);
    return offset;
}

/// What panels of products take of the shared memory of a block, and whether warpgroups read some of them.
std::pair<int64_t, bool> BlockLowering::staged_bytes() const {
    int64_t bytes = 0;
    bool permuted = false;
    auto count = [&](const plan::Block &block) {
        for (const auto &step : block.steps) {
            const auto *c = std::get_if<plan::Contraction>(&step);
            if (c && c->stage) {
                bytes = std::max(bytes, c->stage->shared_bytes());
                permuted |= c->stage->panel_atom != nullptr;
            }
        }
    };
    for (const auto &[region, block] : _plan->blocks) {
        count(block);
    }
    for (const auto &phase : _plan->phases) {
        count(phase.block);
    }
    return {bytes, permuted};
}

int64_t BlockLowering::shared_room(int64_t bytes) {
    auto offset = _shared_bytes;
    _shared_bytes += aligned(bytes);
    return offset + in_shared;
}

int64_t BlockLowering::staging_room() {
    if (_staging_bytes == 0) {
        auto [bytes, permuted] = staged_bytes();
        if (permuted) {
            // Such panels begin at multiples of what the permutation of their lines repeats after.
            _shared_bytes = (_shared_bytes + panel_atom - 1) / panel_atom * panel_atom;
        }
        _staging_bytes = bytes;
        _staging = _shared_bytes;
        _shared_bytes += aligned(_staging_bytes);
    }
    return _staging + in_shared;
}

cpu::Lowering::Place BlockLowering::place(int64_t room) {
    if (room < in_shared) {
        return {_scratch, room};
    }
    auto *start = _b.pure(Opcode::SHARED, {}, ir::SharedPayload{0}, _b.module().pointer());
    return {start, room - in_shared};
}

int64_t BlockLowering::allocate_private(int64_t bytes) {
    return allocate_bytes(aligned(bytes) * std::max<int64_t>(_private_threads, 1));
}

ir::Value *BlockLowering::private_start(int64_t room, int64_t bytes) {
    return _b.address(start_of(room), _thread, aligned(bytes));
}

void BlockLowering::barrier() {
    require(_alone == 0, "a barrier stands where all threads come");
    if (!_alone_in_team) {
        _b.effect(Opcode::BARRIER, {}, ir::None{});
    }
    _b.forget_reads();
    _touched = {};
}

void BlockLowering::touch(const Touched &next) {
    if (_touched.conflicts(next)) {
        barrier();
    }
    _touched.add(next);
    _write_count += next.writes.size();
}

void BlockLowering::synchronize() {
    barrier();
    ++_write_count;
}

void BlockLowering::end_iteration(const ir::Operation &) {
    if (_alone == 0 && _write_count != _loop_marks.back() && !_touched.empty()) {
        barrier();
    }
}

void BlockLowering::before_reading(const ir::Value *value) {
    if (_alone == 0) {
        TouchedBy by{*_plan, _scalars};
        by.value(value);
        touch(by.result);
    }
}

void BlockLowering::by_owner(const std::function<void()> &body) {
    auto *first = _b.compare(Opcode::EQ, _thread, _b.index(0));
    ++_alone;
    _b.branch(
        first,
        [&] {
            body();
            return Values{};
        },
        [] { return Values{}; });
    --_alone;
}

void BlockLowering::element_loop(int64_t begin, int64_t end, int64_t step,
                                 const std::function<void(ir::Value *)> &body) {
    require(step == 1, "threads take single elements");
    if (begin == end) {
        return;
    }
    ++_alone;
    _b.loop(_b.add(_thread, _b.index(begin)), _b.index(end), _b.index(_threads), {},
            [&](ir::Value *iv, const Values &) {
                body(iv);
                return Values{};
            });
    --_alone;
}

Values BlockLowering::broadcast(const Values &values) {
    if (_alone_in_team) {
        return values;
    }
    std::vector<int64_t> rooms;
    Touched staging;
    for (size_t i = 0; i < values.size(); ++i) {
        rooms.push_back(allocate_bytes(8));
    }
    // No other step knows these places: they stand for themselves.
    staging.writes.insert(values.front());
    touch(staging);
    auto access = [](ir::Value *value) {
        return ir::MemoryPayload{static_cast<uint32_t>(size_of(value->scalar())), false, false};
    };
    by_owner([&] {
        for (size_t i = 0; i < values.size(); ++i) {
            _b.effect(Opcode::WRITE, {start_of(rooms[i]), values[i]}, access(values[i]));
        }
    });
    barrier();
    Values all;
    for (size_t i = 0; i < values.size(); ++i) {
        all.push_back(
            _b.read(Opcode::READ, {start_of(rooms[i])}, access(values[i]), values[i]->type()));
    }
    Touched read;
    read.reads.insert(values.front());
    touch(read);
    return all;
}

void BlockLowering::in_one_thread(const std::function<void()> &body) {
    auto *first = _b.compare(Opcode::EQ, _thread, _b.index(0));
    _found.clear();
    _one_thread = true;
    ++_alone;
    auto mine = _b.branch(
        first,
        [&] {
            body();
            Values values;
            for (const auto &[result, value] : _found) {
                values.push_back(value);
            }
            return values;
        },
        [&] {
            Values none;
            for (const auto &[result, value] : _found) {
                none.push_back(_b.constant(value->scalar(), 0));
            }
            return none;
        });
    --_alone;
    _one_thread = false;
    auto found = std::move(_found);
    _found.clear();
    if (!found.empty()) {
        auto all = broadcast(mine);
        for (size_t i = 0; i < found.size(); ++i) {
            _scalars[found[i].first] = all[i];
        }
    }
}

void BlockLowering::write_result(const plan::Root &root, ir::Value *value, Point &point) {
    if (_one_thread && root.op->result()->type()->is_scalar()) {
        _found.emplace_back(root.op->result(), value);
        return;
    }
    if (!root.op->result()->type()->is_scalar()) {
        hold(root.op->result(), point, value);
        auto place = point.derived();
        place.guard = _b.both(point.guard, _writer);
        return cpu::Lowering::write_result(root, value, place);
    }
    cpu::Lowering::write_result(root, value, point);
}

ir::Value *BlockLowering::in_part(Dim dim, ir::Value *at) {
    return _split && _split->dim == dim ? _b.add(at, _part_start) : at;
}

BlockLowering::Dims BlockLowering::whole_loops(const LoopGroup &group) const {
    auto loops = group.loops;
    for (auto &loop : loops) {
        loop.extent *= _split && _split->dim == loop.dim ? _split->parts : 1;
    }
    return loops;
}

void BlockLowering::place_at(const Dims &dims, ir::Value *index, Point &point) {
    auto *rest = index;
    for (size_t i = dims.size(); i-- > 0;) {
        auto *extent = _b.index(dims[i].extent);
        auto *at = i == 0 ? rest : _b.rem(rest, extent);
        point.at[dims[i].dim.id] = {in_part(dims[i].dim, at), 0, nullptr};
        rest = i == 0 ? rest : _b.div(rest, extent);
    }
}

void BlockLowering::deal_out(const Dims &dims, const Ends &ends, Point &point,
                             const std::function<void(Point &)> &body) {
    int64_t count = 1;
    for (const auto &d : dims) {
        count *= d.extent;
    }
    if (count == 0) {
        return;
    }
    if (dims.empty()) {
        return in_one_thread([&] { body(point); });
    }
    element_loop(0, count, 1, [&](ir::Value *iv) {
        auto inner = point.derived();
        place_at(dims, iv, inner);
        ir::Value *inside = nullptr;
        for (const auto &d : dims) {
            auto end = ends.find(d.dim.id);
            int64_t known = 0;
            if (end == ends.end() ||
                (MachineBuilder::is_constant(end->second, known) && known >= d.extent)) {
                continue;
            }
            auto *at = inner.at.at(d.dim.id).base;
            inside = _b.both(inside, _b.compare(Opcode::LT, at, end->second));
        }
        if (!inside) {
            return body(inner);
        }
        _b.branch(
            inside,
            [&] {
                body(inner);
                return Values{};
            },
            [] { return Values{}; });
    });
}

}// namespace luisa::tile::simt
