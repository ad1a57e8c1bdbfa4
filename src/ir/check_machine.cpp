// SPDX-License-Identifier: Apache-2.0
#include "ir/check_operations.h"

#include <algorithm>

namespace luisa::tile::ir {

namespace {

/// Number of lanes; a scalar counts as one.
int64_t width(const Type &t) { return t.is_vector() ? t.lanes : 1; }
bool is_data(const Type &t) { return t.is_vector() || t.is_scalar(); }
bool is_index(const Type &t) { return t.is_scalar() && t.scalar == ScalarType::INT64; }

/// The first broken rule of one Machine operation; counts of results are right already.
struct MachineRules {
    const Operation &op;
    std::string message;

    bool require_that(bool holds, const char *text) {
        if (!holds && message.empty()) {
            message = text;
        }
        return holds;
    }
    [[nodiscard]] const Type &operand(size_t i) const { return *op.operand(i)->type(); }
    [[nodiscard]] const Type &result() const { return *op.result()->type(); }

    void loop() {
        size_t states = op.result_count();
        const auto &arguments = op.body()->arguments();
        if (!require_that(op.operand_count() == 3 + states && arguments.size() == 1 + states,
                          "operands, region arguments and results disagree about its states")) {
            return;
        }
        require_that(is_index(operand(0)) && is_index(operand(1)) && is_index(operand(2)) &&
                         is_index(*arguments[0]->type()),
                     "a bound or the index is no i64 scalar");
        for (size_t i = 0; i < states; ++i) {
            const auto *type = op.result(i)->type();
            require_that(op.operand(3 + i)->type() == type && arguments[1 + i]->type() == type,
                         "a state changes its type");
        }
    }

    void lanes() {
        auto index = [&](size_t of) {
            auto i = op.get<IndexPayload>().index;
            require_that(i >= 0 && i < width(operand(of)), "names a lane that the vector lacks");
            require_that(operand(of).is_vector(), "takes no vector");
        };
        switch (op.opcode()) {
            case Opcode::SPLAT:
                require_that(operand(0).is_scalar() && result().is_vector() &&
                                 operand(0).scalar == result().scalar,
                             "makes a vector of its scalar operand's type");
                break;
            case Opcode::LANES:
                require_that(result().is_vector() && is_integer(result().scalar),
                             "makes no integer vector");
                break;
            case Opcode::LANE_MASK:
                require_that(is_index(operand(0)) && result().scalar == ScalarType::BOOL &&
                                 is_data(result()),
                             "makes a bool vector from an i64 count");
                break;
            case Opcode::EXTRACT_LANE:
                index(0);
                require_that(result().is_scalar() && result().scalar == operand(0).scalar,
                             "the result is no scalar of the vector's type");
                break;
            case Opcode::INSERT_LANE:
                index(0);
                require_that(op.result()->type() == op.operand(0)->type() &&
                                 operand(1).is_scalar() && operand(1).scalar == operand(0).scalar,
                             "the lane or the result is not like the vector");
                break;
            case Opcode::SHUFFLE: shuffle(); break;
            default: break;
        }
    }

    void shuffle() {
        const auto &lanes = op.get<ShufflePayload>().lanes;
        require_that(is_data(operand(0)) && op.operand(0)->type() == op.operand(1)->type() &&
                         result().scalar == operand(0).scalar,
                     "operands and result have different element types");
        require_that(static_cast<int64_t>(lanes.size()) == width(result()),
                     "has not one entry a lane of the result");
        auto limit = 2 * width(operand(0));
        require_that(
            std::all_of(lanes.begin(), lanes.end(), [&](auto i) { return i >= 0 && i < limit; }),
            "an entry names no lane of the operands");
    }

    /// Access operations: [pointer][indices][value][mask[, other]].
    void memory() {
        const auto &payload = op.get<MemoryPayload>();
        auto code = op.opcode();
        bool reads = code == Opcode::READ || code == Opcode::GATHER || code == Opcode::ATOMIC_READ;
        bool indexed = code == Opcode::GATHER || code == Opcode::SCATTER;
        size_t fixed = 1u + (indexed ? 1 : 0) + (reads ? 0 : 1);
        size_t extra = op.operand_count() - std::min(op.operand_count(), fixed);
        require_that(payload.align && !(payload.align & (payload.align - 1)),
                     "the alignment is no power of two");
        bool counts = op.operand_count() >= fixed &&
                      (!payload.masked ? extra == 0 : extra == 1 || (reads && extra == 2));
        if (!require_that(counts, "has a wrong number of operands") ||
            !require_that(operand(0).is_pointer(), "addresses no pointer")) {
            return;
        }
        const auto &value = reads ? result() : operand(fixed - 1);
        if (indexed) {
            require_that(is_data(operand(1)) && is_integer(operand(1).scalar) &&
                             width(operand(1)) == width(value),
                         "has not one integer index a lane");
        }
        if (payload.masked) {
            require_that(operand(fixed).scalar == ScalarType::BOOL &&
                             width(operand(fixed)) == width(value),
                         "the mask is not one bool a lane");
        }
        if (extra == 2) {
            require_that(op.operand(fixed + 1)->type() == op.result()->type(),
                         "what masked lanes read is not like the result");
        }
    }

    void atomic_update() {
        bool compares = op.get<AtomicPayload>().op == AtomicOp::COMPARE_EXCHANGE;
        size_t values = compares ? 2 : 1;
        if (!require_that(op.operand_count() == 1 + values && operand(0).is_pointer(),
                          "takes no pointer and the values of its kind")) {
            return;
        }
        bool agrees = result().is_scalar() && is_integer(result().scalar);
        for (size_t i = 1; i <= values; ++i) {
            agrees &= op.operand(i)->type() == op.result()->type();
        }
        require_that(agrees, "values and result are no integers of one type");
    }

    void report() {
        const auto &payload = op.get<ReportPayload>();
        require_that(payload.site >= 0, "names no entry of the table");
        require_that(!payload.checks || (op.operand_count() > 0 && operand(0).is_scalar() &&
                                         operand(0).scalar == ScalarType::BOOL),
                     "the condition is no bool scalar");
        for (size_t i = 0; i < op.operand_count(); ++i) {
            require_that(operand(i).is_scalar(), "reports what is no scalar");
        }
    }

    void dot() {
        auto factors = op.get<DotPayload>().factors;
        auto sums = factors == GroupFactors::BF16 ? ScalarType::FLOAT32 : ScalarType::INT32;
        require_that(factors <= GroupFactors::U8U8, "does not say what its factors hold");
        require_that(op.operand(0)->type() == op.operand(1)->type() &&
                         operand(0).scalar == ScalarType::INT32 &&
                         op.operand(2)->type() == op.result()->type() && result().scalar == sums &&
                         width(operand(0)) == width(result()),
                     "factors are no words, or the sum is not of their products");
    }

    void matrix() {
        const auto &payload = op.get<MatrixPayload>();
        require_that(payload.action <= MatrixAction::MULTIPLY &&
                         payload.factors <= GroupFactors::U8U8,
                     "does not say what it does");
        bool moves = payload.action == MatrixAction::LOAD || payload.action == MatrixAction::STORE;
        size_t count = moves ? 2 : payload.action == MatrixAction::CONFIGURE ? 1 : 0;
        require_that(op.operand_count() == count && (count == 0 || operand(0).is_pointer()) &&
                         (count < 2 || is_index(operand(1))),
                     "takes no pointer and no i64 distance of rows as its action wants");
        for (auto i : {payload.to, payload.a, payload.b}) {
            require_that(i >= 0 && i < 8, "names no matrix register");
        }
    }

    void team() {
        switch (op.opcode()) {
            case Opcode::PARTICIPANT:
            case Opcode::PARTICIPANTS:
                require_that(op.get<ParticipantPayload>().kind <= ParticipantKind::BLOCK,
                             "does not say of what");
                require_that(is_index(result()), "the number is no i64 scalar");
                break;
            case Opcode::SHARED:
                require_that(op.get<SharedPayload>().offset >= 0 && result().is_pointer(),
                             "makes a pointer from an offset that is not negative");
                break;
            default:
                require_that(op.get<ExchangePayload>().mode <= ExchangeMode::INDEX,
                             "does not say which lane");
                require_that(operand(0).is_scalar() && op.operand(0)->type() == op.result()->type(),
                             "operand and result are no scalars of one type");
                require_that(operand(1).is_scalar() && operand(1).scalar == ScalarType::INT32,
                             "the lane or distance is no i32 scalar");
        }
    }

    /// Copies past the registers, and matrices that the threads of a warp hold together.
    void matrices() {
        switch (op.opcode()) {
            case Opcode::COPY_ASYNC: {
                auto bytes = op.get<CopyPayload>().bytes;
                require_that(bytes == 4 || bytes == 8 || bytes == 16,
                             "copies neither 4, 8 nor 16 bytes");
                require_that((op.operand_count() == 2 || op.operand_count() == 3) &&
                                 operand(0).is_pointer() && operand(1).is_pointer(),
                             "takes no two pointers");
                require_that(op.operand_count() != 3 || is_index(operand(2)),
                             "the count is no i64 scalar");
                return;
            }
            case Opcode::COPY_WAIT: {
                auto groups = op.get<IndexPayload>().index;
                require_that(groups >= 0 && groups < 64, "waits for no number of groups");
                return;
            }
            case Opcode::LOAD_MATRIX: {
                const auto &payload = op.get<LoadMatrixPayload>();
                auto count = payload.count;
                auto bytes = static_cast<int64_t>(size_of(result().scalar));
                require_that(count == 1 || count == 2 || count == 4,
                             "loads neither 1, 2 nor 4 matrices");
                require_that(operand(0).is_pointer(), "addresses no pointer");
                require_that(is_data(result()) && width(result()) * bytes == 4 * int64_t{count},
                             "a lane gets four bytes a matrix");
                require_that(!payload.transposed || bytes == 2, "transposes elements of two bytes");
                return;
            }
            default: {
                const auto &shape = op.get<MultiplyMatrixPayload>();
                auto holds = [&](size_t i, int64_t rows, int64_t columns) {
                    return is_data(operand(i)) && width(operand(i)) * 32 == rows * columns;
                };
                require_that(shape.m > 0 && shape.n > 0 && shape.k > 0, "has no shape");
                require_that(holds(0, shape.m, shape.k) && holds(1, shape.k, shape.n) &&
                                 holds(2, shape.m, shape.n),
                             "an operand has not the elements of a lane");
                require_that(op.operand(2)->type() == op.result()->type(),
                             "the result is not like what is added");
            }
        }
    }

    /// Products of matrices in shared memory by the warps of a warpgroup.
    void panels() {
        if (op.opcode() == Opcode::PANEL_DESCRIPTOR) {
            const auto &payload = op.get<PanelDescriptorPayload>();
            require_that(operand(0).is_pointer() && is_index(result()),
                         "makes no i64 scalar from a pointer");
            for (auto bytes : {payload.leading, payload.stride}) {
                require_that(bytes >= 0 && bytes % 16 == 0 && bytes < 1 << 18,
                             "distances are multiples of 16 bytes, below 2^18");
            }
            return;
        }
        bool waits = op.opcode() == Opcode::PANELS_WAIT;
        size_t sum = waits ? 0 : 2;
        require_that(is_data(result()) && result().is_vector() && size_of(result().scalar) == 4,
                     "the sums are no vector of 32-bit elements");
        require_that(op.operand(sum)->type() == op.result()->type(),
                     "the result is not like what is added");
        if (waits) {
            auto groups = op.get<IndexPayload>().index;
            require_that(groups >= 0 && groups < 8, "waits for no number of groups");
            return;
        }
        const auto &payload = op.get<MultiplyPanelsPayload>();
        require_that(is_index(operand(0)) && is_index(operand(1)), "takes no two descriptors");
        require_that(payload.a <= ScalarType::FLOAT8_E5M2 && payload.b <= ScalarType::FLOAT8_E5M2,
                     "does not say of which elements");
        require_that(payload.n > 0 && payload.n <= 256 && payload.n % 8 == 0 &&
                         payload.k * static_cast<int64_t>(size_of(payload.a)) == 32,
                     "has no shape of a warpgroup");
        require_that(width(result()) * 2 == payload.n, "a thread holds n / 2 sums");
    }

    void run() {
        if (std::holds_alternative<MemoryPayload>(op.payload())) {
            return memory();
        }
        switch (op.opcode()) {
            case Opcode::FOR: return loop();
            case Opcode::ATOMIC_UPDATE: return atomic_update();
            case Opcode::REPORT: return report();
            case Opcode::BARRIER:
            case Opcode::COPY_COMMIT:
            case Opcode::PANELS_FENCE:
            case Opcode::PANELS_COMMIT:
            case Opcode::COPIES_VISIBLE: return;
            case Opcode::PANEL_DESCRIPTOR:
            case Opcode::MULTIPLY_PANELS:
            case Opcode::PANELS_WAIT: return panels();
            case Opcode::COPY_ASYNC:
            case Opcode::COPY_WAIT:
            case Opcode::LOAD_MATRIX:
            case Opcode::MULTIPLY_MATRIX: return matrices();
            case Opcode::PARTICIPANT:
            case Opcode::PARTICIPANTS:
            case Opcode::SHARED:
            case Opcode::EXCHANGE_LANES: return team();
            case Opcode::PREFETCH: {
                auto level = op.get<PrefetchPayload>().level;
                require_that(operand(0).is_pointer(), "addresses no pointer");
                require_that(level == 1 || level == 2, "names no cache that it can fill");
                return;
            }
            case Opcode::REDUCE_LANES:
                require_that(is_data(operand(0)) && result().is_scalar() &&
                                 result().scalar == operand(0).scalar &&
                                 op.get<LaneReducePayload>().reducer < Reducer::ARGMIN,
                             "folds a vector to a scalar of its type, and finds no positions");
                break;
            case Opcode::SCALE:
                require_that(op.operand(0)->type() == op.operand(1)->type() &&
                                 op.operand(0)->type() == op.result()->type() &&
                                 is_float(result().scalar),
                             "operands and result are not of one float type");
                break;
            case Opcode::REGROUP:
                require_that(is_data(operand(0)) && is_data(result()) &&
                                 info(operand(0).scalar).bits * width(operand(0)) ==
                                     info(result().scalar).bits * width(result()) &&
                                 operand(0).scalar != ScalarType::BOOL &&
                                 result().scalar != ScalarType::BOOL,
                             "operand and result have different numbers of bits");
                break;
            case Opcode::DOT: return dot();
            case Opcode::MATRIX: return matrix();
            case Opcode::TABLE:
                require_that(operand(0).scalar == ScalarType::INT32 &&
                                 width(operand(0)) == width(result()) &&
                                 size_of(result().scalar) == 4 &&
                                 !op.get<TablePayload>().entries.empty(),
                             "looks up 32-bit entries by i32 indices, one a lane");
                break;
            case Opcode::ARGUMENT:
                require_that(operand(0).is_pointer() && op.get<IndexPayload>().index >= 0 &&
                                 !result().is_vector(),
                             "reads one word at a pointer");
                break;
            case Opcode::ADDRESS:
                require_that((op.operand_count() == 1 || op.operand_count() == 2) &&
                                 operand(0).is_pointer() && result().is_pointer(),
                             "makes a pointer from a pointer");
                require_that(op.operand_count() != 2 || is_index(operand(1)),
                             "the index is no i64 scalar");
                break;
            default: lanes();
        }
    }
};

}// namespace

bool check_machine_rules(const Operation &op, std::string &message) {
    MachineRules rules{op, {}};
    rules.run();
    message = std::move(rules.message);
    return message.empty();
}

}// namespace luisa::tile::ir
