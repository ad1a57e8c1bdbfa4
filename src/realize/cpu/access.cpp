// SPDX-License-Identifier: Apache-2.0
#include "analysis/expressions.h"
#include "realize/cpu/lowering.h"

namespace luisa::tile::cpu {

using ir::Opcode;

ir::Value *Lowering::view_word(const ir::Value *view, size_t word, ScalarType type, bool pointer) {
    auto index = static_cast<int64_t>(_argument_words.at(view) + word);
    auto *result = pointer ? _b.module().pointer() : _b.module().scalar(type);
    return _b.pure(Opcode::ARGUMENT, {_args}, ir::IndexPayload{index}, result);
}

ir::Value *Lowering::view_extent(const ir::Value *view, size_t axis) {
    auto extent = view->type()->axes.at(axis).extent;
    return extent == ir::runtime_value ? view_word(view, 1 + axis, ScalarType::INT64)
                                       : _b.index(extent);
}

ir::Value *Lowering::view_stride(const ir::Value *view, size_t axis) {
    auto stride = analysis::view_strides(*view->type()).at(axis);
    return stride == ir::runtime_value
               ? view_word(view, 1 + view->type()->rank() + axis, ScalarType::INT64)
               : _b.index(stride);
}

namespace {

bool same_extent(const Clip &clip, const ir::Value *view, size_t axis) {
    const auto &wanted = view->type()->axes.at(axis);
    if (wanted.extent != ir::runtime_value) {
        return clip.extent != ir::runtime_value && clip.extent <= wanted.extent;
    }
    // Equal names of runtime extents are one extent.
    return clip.view && clip.extent == ir::runtime_value &&
           clip.view->type()->axes.at(clip.axis).name == wanted.name && !wanted.name.empty();
}

uint32_t access_alignment(ScalarType type) { return static_cast<uint32_t>(size_of(type)); }

uint32_t alignment(int64_t known, ScalarType type) {
    return known > 0 ? static_cast<uint32_t>(known) : access_alignment(type);
}

}// namespace

ir::Value *Lowering::lanes_below(ir::Value *count, int lanes) {
    auto *type = _b.module().vector(ScalarType::BOOL, static_cast<uint16_t>(lanes));
    return _b.pure(Opcode::LANE_MASK, {count}, ir::None{}, type);
}

/// Adds to the mask which lanes lie inside the view along one axis, unless that is proven or what a clipped
/// loop guarantees.
void Lowering::check_bounds(Access &access, const ViewAxis &at,
                            const std::vector<ir::DimExtent> &box, const Coordinate &local,
                            const Point &point) {
    int64_t range = box.empty() ? 1 : box[at.axis].extent;
    int64_t extent = at.view->type()->axes[at.axis].extent;
    auto known = analysis::interval_of(at.origin);
    bool low_proven = known.low >= 0;
    bool high_proven = extent != ir::runtime_value && known.high != INT64_MAX &&
                       known.high <= extent - range;
    bool clipped = false;
    if (range != 1) {
        auto clip = point.clips.find(box[at.axis].dim.id);
        clipped = clip != point.clips.end() &&
                  analysis::same_scalar(clip->second.origin, at.origin) &&
                  same_extent(clip->second, at.view, at.axis);
    }
    access.always_valid &= low_proven && high_proven;
    if (lies_inside(at.view, at.axis, at.origin, range)) {
        return;
    }
    if (low_proven && (high_proven || clipped)) {
        return;
    }
    auto *coordinate = coordinate_value({at.base, local.slope, nullptr}, point.lanes);
    if (local.per_lane) {
        auto *splat = _b.splat(at.base, local.per_lane->type()->lanes);
        coordinate = _b.pure(Opcode::ADD, {local.per_lane, splat});
    }
    int lanes = coordinate->type()->lanes;
    if (!low_proven) {
        auto *above = _b.pure(Opcode::GE, {coordinate, _b.splat(_b.index(0), lanes)});
        access.mask = _b.both(access.mask, above);
    }
    if (high_proven || clipped) {
        return;
    }
    auto *end = view_extent(at.view, at.axis);
    ir::Value *below = nullptr;
    if (!local.per_lane && local.slope == 1) {
        below = lanes_below(_b.sub(end, at.base), point.lanes);
    } else {
        below = _b.pure(Opcode::LT, {coordinate, _b.splat(end, lanes)});
    }
    access.mask = _b.both(access.mask, below);
}

/// The address and validity of the elements of a view at `origins` plus the local coordinates of
/// `box` (empty: the one element at the origins). Origins of a mapped access are tiles, and the box empty.
Lowering::Access Lowering::view_access(const ir::Value *view,
                                       const std::vector<const ir::Value *> &origins,
                                       const std::vector<ir::DimExtent> &box, Bounds bounds,
                                       bool mapped, Point &point) {
    const auto &type = *view->type();
    auto strides = analysis::view_strides(type);
    auto bytes = static_cast<int64_t>(size_of(type.scalar));
    Access access;
    access.always_valid = true;
    Values terms;
    ir::Value *lane_offsets = nullptr;
    int64_t lane_slope = 0;
    for (size_t axis = 0; axis < type.rank(); ++axis) {
        auto *origin = mapped ? _b.index(0) : scalar_value(origins[axis]);
        auto local = mapped        ? coordinate_of(origins[axis], point)
                     : box.empty() ? Coordinate{_b.index(0), 0, nullptr}
                                   : local_coordinate(box[axis], point);
        auto *stride = view_stride(view, axis);
        ir::Value *base = nullptr;
        if (local.per_lane) {
            int lanes = local.per_lane->type()->lanes;
            auto *scaled = _b.pure(Opcode::MUL, {local.per_lane, _b.splat(stride, lanes)});
            lane_offsets = lane_offsets ? _b.pure(Opcode::ADD, {lane_offsets, scaled}) : scaled;
            base = origin;
        } else {
            base = _b.add(origin, local.base);
            if (local.slope != 0 && strides[axis] != ir::runtime_value) {
                lane_slope += local.slope * strides[axis];
            } else if (local.slope != 0) {
                auto *lanes = coordinate_value({_b.index(0), local.slope, nullptr}, point.lanes);
                auto *scaled = _b.pure(Opcode::MUL, {lanes, _b.splat(stride, point.lanes)});
                lane_offsets = lane_offsets ? _b.pure(Opcode::ADD, {lane_offsets, scaled}) : scaled;
            }
        }
        terms.push_back(_b.mul(base, stride));
        if (bounds == Bounds::ASSUME) {
            continue;
        }
        check_bounds(access, {view, axis, origins[axis], base}, box, local, point);
    }
    access.mask = _b.both(access.mask, point.guard);
    auto *base = view_word(view, 0, ScalarType::INT64, true);
    access.align = alignment_of(base, terms, bytes);
    access.address = _b.address_sum(base, std::move(terms), bytes);
    access.uniform = !lane_offsets && lane_slope == 0;
    if (lane_slope != 0 && (lane_slope != 1 || lane_offsets)) {
        auto *lanes = coordinate_value({_b.index(0), lane_slope, nullptr}, point.lanes);
        lane_offsets = lane_offsets ? _b.pure(Opcode::ADD, {lane_offsets, lanes}) : lanes;
    }
    access.indices = lane_offsets;
    // A lane that does not exist touches nothing. An access that all lanes share is one element, which each of them may
    // be the only one to reach.
    bool differs = access.mask && access.mask->type()->is_vector();
    if (!access.uniform || differs) {
        access.mask = _b.both(access.mask, point.mask);
    }
    return access;
}

ir::Value *Lowering::read_access(const Access &access, ScalarType type, ir::Value *other, int lanes,
                                 bool stable) {
    int width = access.uniform ? 1 : lanes;
    auto *result = width > 1 ? _b.module().vector(type, static_cast<uint16_t>(width))
                             : _b.module().scalar(type);
    Opcode op = access.indices ? Opcode::GATHER : Opcode::READ;
    Values operands{access.address};
    if (access.indices) {
        operands.push_back(access.indices);
    }
    bool vector_mask = access.mask && access.mask->type()->is_vector();
    if (access.uniform && vector_mask) {
        // One element for lanes of which only some are valid: read it where any lane is, choose after.
        auto *any = _b.pure(Opcode::REDUCE_LANES, {access.mask},
                            ir::LaneReducePayload{Reducer::LOGICAL_OR},
                            _b.module().scalar(ScalarType::BOOL));
        auto one = access;
        one.mask = any;
        auto *value = read_access(
            one, type, other->type()->is_vector() ? _b.constant(type, 0) : other, 1, stable);
        return select(access.mask, value, other);
    }
    if (access.mask) {
        operands.push_back(_b.splat(access.mask, width));
        operands.push_back(_b.splat(other, width));
    }
    bool aligned = width > 1 && width == _aligned_lanes && !access.indices;
    auto align = aligned ? access_alignment(type) * static_cast<uint32_t>(width)
                         : alignment(access.align, type);
    ir::MemoryPayload payload{align, access.mask != nullptr, false};
    return stable ? _b.stable_read(op, operands, payload, result)
                  : _b.read(op, operands, payload, result);
}

void Lowering::write_access(const Access &access, ir::Value *value, int lanes) {
    // Lanes beyond a dimension of one element address it too, and their mask keeps them off.
    bool by_mask = access.uniform && access.mask && access.mask->type()->is_vector();
    bool uniform = access.uniform && !by_mask;
    int width = uniform ? 1 : lanes;
    auto type = value->scalar();
    if (uniform && value->type()->is_vector()) {
        value = _b.pure(Opcode::EXTRACT_LANE, {value}, ir::IndexPayload{0},
                        _b.module().scalar(type));
    }
    Values operands{access.address};
    auto *indices = by_mask ? _b.splat(_b.index(0), width) : access.indices;
    if (indices) {
        operands.push_back(indices);
    }
    operands.push_back(_b.splat(value, width));
    if (access.mask) {
        operands.push_back(_b.splat(access.mask, width));
    }
    _b.effect(indices ? Opcode::SCATTER : Opcode::WRITE, operands,
              ir::MemoryPayload{alignment(access.align, type), access.mask != nullptr, false});
}

/// What a load reads at a place; `bounds` says how far its own are checked.
Lowering::Access Lowering::load_access(const ir::Operation &op, Bounds bounds, Point &point) {
    const auto &payload = op.get<ir::LoadPayload>();
    std::vector<const ir::Value *> origins;
    for (size_t i = 0; i < op.operand(0)->type()->rank(); ++i) {
        origins.push_back(op.operand(1 + i));
    }
    return view_access(op.operand(0), origins,
                       payload.mapped ? std::vector<ir::DimExtent>{} : op.result()->type()->dims,
                       bounds, payload.mapped, point);
}

/// What a store writes at a place.
Lowering::Access Lowering::store_access(const ir::Operation &op, Bounds bounds, Point &point) {
    const auto &payload = op.get<ir::StorePayload>();
    std::vector<const ir::Value *> origins;
    for (size_t i = 0; i < op.operand(0)->type()->rank(); ++i) {
        origins.push_back(op.operand(2 + i));
    }
    return view_access(op.operand(0), origins,
                       payload.mapped ? std::vector<ir::DimExtent>{} : payload.box, bounds,
                       payload.mapped, point);
}

ir::Value *Lowering::load(const ir::Operation &op, Point &point) {
    const auto &payload = op.get<ir::LoadPayload>();
    const auto &type = *op.result()->type();
    auto access = load_access(op, payload.bounds, point);
    auto *other = payload.has_fallback ? scalar_value(op.operand(1 + op.operand(0)->type()->rank()))
                                       : _b.constant(type.scalar, 0);
    bool stable = !type.is_scalar() && !_stores_in_step;
    return read_access(access, type.scalar, other, point.lanes, stable);
}

void Lowering::store(const ir::Operation &op, ir::Value *value, Point &point) {
    auto access = store_access(op, op.get<ir::StorePayload>().bounds, point);
    write_access(access, value, point.lanes);
}

int64_t Lowering::allocate_bytes(int64_t bytes) {
    auto offset = _scratch_used;
    // Every allocation is followed by one vector: full-width reads may pass the last element.
    _scratch_used += (bytes + 64 + 63) / 64 * 64;
    _scratch_peak = std::max(_scratch_peak, _scratch_used);
    if (_steps) {
        _rooms.push_back({_function, _room_owner, offset, bytes, _b.mark()});
    }
    return offset;
}

/// Extents of the places that a kept value takes, gaps of a layout included.
std::vector<int64_t> Lowering::storage_extents(const plan::Storage &storage) {
    if (storage.layout) {
        return storage.layout->map.codomain().extents();
    }
    std::vector<int64_t> extents;
    for (const auto &d : storage.order) {
        extents.push_back(d.extent);
    }
    return extents;
}

void Lowering::allocate(const ir::Value *home) {
    if (_offsets.count(home)) {
        return;
    }
    int64_t bytes = static_cast<int64_t>(size_of(home->scalar()));
    for (auto extent : storage_extents(_plan->storage.at(home))) {
        if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes) ||
            bytes > (int64_t{1} << 40)) {
            auto *op = home->definition();
            throw ResourceError{"a tile of shape " + ir::extents_text(*home->type()) +
                                    " needs more scratch memory than a CPU task can have; use "
                                    "smaller tiles",
                                op ? op->loc : SourceLoc{}};
        }
    }
    _room_owner = home;
    _offsets[home] = allocate_bytes(bytes);
    _room_owner = nullptr;
}

Lowering::Place Lowering::place(int64_t room) { return {_scratch, room}; }

ir::Value *Lowering::start_of(int64_t room) {
    auto at = place(room);
    return _b.address(at.base, nullptr, 1, at.offset);
}

/// The place of a Memory's element under its layout.
Lowering::Access Lowering::layout_access(const plan::MemoryLayout &layout, const ir::Value *home,
                                         const Point &point) {
    std::vector<Coordinate> at;
    for (const auto &d : layout.dims) {
        at.push_back(local_coordinate(d, point));
    }
    auto place = index_map(layout.map, at, point.lanes);
    Access access;
    access.always_valid = true;
    auto *start = start_of(_offsets.at(home));
    auto bytes = static_cast<int64_t>(size_of(home->scalar()));
    access.mask = point.guard;
    access.uniform = !place.per_lane && place.slope == 0;
    if (place.per_lane) {
        access.address = start;
        access.indices = place.per_lane;
        return access;
    }
    access.address = _b.address_sum(start, {place.base}, bytes);
    if (place.slope != 0 && place.slope != 1) {
        access.indices = coordinate_value({_b.index(0), place.slope, nullptr}, point.lanes);
    }
    return access;
}

Lowering::Access Lowering::storage_access(const ir::Value *home, const Point &point) {
    allocate(home);
    if (const auto &layout = _plan->storage.at(home).layout) {
        return layout_access(*layout, home, point);
    }
    const auto &order = _plan->storage.at(home).order;
    auto bytes = static_cast<int64_t>(size_of(home->scalar()));
    Access access;
    access.always_valid = true;
    Values terms;
    ir::Value *lane_offsets = nullptr;
    int64_t stride = 1, lane_slope = 0;
    for (size_t i = order.size(); i-- > 0;) {
        auto c = local_coordinate(order[i], point);
        if (c.per_lane) {
            auto *scaled = _b.pure(
                Opcode::MUL, {c.per_lane, _b.splat(_b.index(stride), c.per_lane->type()->lanes)});
            lane_offsets = lane_offsets ? _b.pure(Opcode::ADD, {lane_offsets, scaled}) : scaled;
        } else {
            terms.push_back(_b.mul(c.base, _b.index(stride)));
            lane_slope += c.slope * stride;
        }
        stride *= std::max<int64_t>(order[i].extent, 1);
    }
    auto *start = start_of(_offsets.at(home));
    access.align = alignment_of(start, terms, bytes);
    access.address = _b.address_sum(start, std::move(terms), bytes);
    access.uniform = !lane_offsets && lane_slope == 0;
    if (lane_slope != 0 && (lane_slope != 1 || lane_offsets)) {
        auto *lanes = coordinate_value({_b.index(0), lane_slope, nullptr}, point.lanes);
        lane_offsets = lane_offsets ? _b.pure(Opcode::ADD, {lane_offsets, lanes}) : lanes;
    }
    access.indices = lane_offsets;
    access.mask = point.guard;
    return access;
}

ir::Value *Lowering::read_storage(const ir::Value *home, Point &point) {
    require(!_plan->in_registers.count(home), "a value in a register is read where it is");
    auto access = storage_access(home, point);
    // Lanes past the end read whatever follows; indexed ones must not follow a wild index.
    if (access.indices || (!_reads_past_ends && !access.uniform)) {
        access.mask = _b.both(access.mask, point.mask);
    }
    auto *other = _b.constant(home->scalar(), 0);
    return read_access(access, home->scalar(), other, point.lanes, !_written.count(home));
}

void Lowering::write_storage(const ir::Value *home, ir::Value *value, Point &point) {
    if (_plan->in_registers.count(home)) {
        return;
    }
    auto access = storage_access(home, point);
    if (!access.uniform) {
        access.mask = _b.both(access.mask, point.mask);
    }
    write_access(access, value, point.lanes);
}

}// namespace luisa::tile::cpu
