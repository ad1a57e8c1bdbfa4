// SPDX-License-Identifier: Apache-2.0
#include "realize/simt/barriers.h"

#include "realize/simt/block_accesses.h"

#include <memory>
#include <vector>

// Where the threads of a block meet is decided step by step while code is made, before it is known what stays in
// registers. Here the code is seen as it is.

namespace luisa::tile::simt {

using ir::Opcode;

namespace {

/// What counts in a region: accesses, barriers, and control around them.
struct Node;
struct List {
    std::vector<Node> nodes;
    Node *parent = nullptr;
};
struct Node {
    enum class Kind : uint8_t { ACCESS, BARRIER, IF, LOOP, CONDITION } kind = Kind::ACCESS;
    ir::Operation *op = nullptr;
    List *list = nullptr;///< where it stands
    size_t index = 0;
    BlockAccesses accesses{};
    std::vector<std::unique_ptr<List>> bodies{};
};

std::unique_ptr<List> list_of(const ir::Region &region, AccessFinder &finder) {
    auto list = std::make_unique<List>();
    for (auto *op : region) {
        Node node;
        node.op = op;
        if (op->opcode() == Opcode::BARRIER) {
            node.kind = Node::Kind::BARRIER;
        } else if (op->opcode() == Opcode::CONDITION) {
            node.kind = Node::Kind::CONDITION;
        } else if (!op->regions().empty()) {
            node.kind = op->opcode() == Opcode::IF ? Node::Kind::IF : Node::Kind::LOOP;
            for (const auto *body : op->regions()) {
                node.bodies.push_back(list_of(*body, finder));
            }
        } else {
            finder.add(*op, node.accesses);
            if (node.accesses.empty()) {
                continue;
            }
        }
        list->nodes.push_back(std::move(node));
    }
    for (size_t i = 0; i < list->nodes.size(); ++i) {
        auto &node = list->nodes[i];
        node.list = list.get();
        node.index = i;
        for (auto &body : node.bodies) {
            body->parent = &node;
        }
    }
    return list;
}

bool always_runs(const Node &loop) {
    return loop.op->opcode() == Opcode::FOR && loop.op->get<ir::ForPayload>().at_least_once;
}

size_t condition_in(const List &body) {
    size_t i = 0;
    while (i < body.nodes.size() && body.nodes[i].kind != Node::Kind::CONDITION) {
        ++i;
    }
    return i;
}

/// Adds what is touched before place `end` of a list, back to the barriers before. Whether there is one on every way.
bool before(const List &list, size_t end, BlockAccesses &touched) {
    for (auto i = end; i-- > 0;) {
        const auto &node = list.nodes[i];
        if (node.kind == Node::Kind::BARRIER) {
            return true;
        }
        if (node.kind == Node::Kind::IF) {
            bool one = before(*node.bodies[0], node.bodies[0]->nodes.size(), touched);
            bool other = before(*node.bodies[1], node.bodies[1]->nodes.size(), touched);
            if (one && other) {
                return true;
            }
        } else if (node.kind == Node::Kind::LOOP) {
            const auto &body = *node.bodies[0];
            // A `while` ends at its condition, after whole iterations.
            bool is_while = node.op->opcode() == Opcode::WHILE;
            if (is_while && before(body, condition_in(body), touched)) {
                return true;
            }
            bool ended = before(body, body.nodes.size(), touched);
            if (ended && always_runs(node)) {
                return true;
            }
        } else {
            touched.add(node.accesses);
        }
    }
    return false;
}

/// The same of what comes from place `begin` on.
bool after(const List &list, size_t begin, BlockAccesses &touched) {
    for (auto i = begin; i < list.nodes.size(); ++i) {
        const auto &node = list.nodes[i];
        if (node.kind == Node::Kind::BARRIER) {
            return true;
        }
        if (node.kind == Node::Kind::IF) {
            bool one = after(*node.bodies[0], 0, touched);
            bool other = after(*node.bodies[1], 0, touched);
            if (one && other) {
                return true;
            }
        } else if (node.kind == Node::Kind::LOOP) {
            const auto &body = *node.bodies[0];
            bool ended = after(body, 0, touched);
            if (ended && always_runs(node)) {
                return true;
            }
        } else {
            touched.add(node.accesses);
        }
    }
    return false;
}

/// Whether a barrier stands between accesses of which one must come first.
bool orders_something(const Node &barrier) {
    BlockAccesses earlier, later;
    bool ended = before(*barrier.list, barrier.index, earlier);
    for (const auto *at = barrier.list->parent; at && !ended; at = at->list->parent) {
        if (at->kind == Node::Kind::LOOP) {
            // The iteration before.
            const auto &body = *at->bodies[0];
            before(body, body.nodes.size(), earlier);
        }
        ended = before(*at->list, at->index, earlier);
    }
    ended = after(*barrier.list, barrier.index + 1, later);
    for (const auto *at = barrier.list->parent; at && !ended; at = at->list->parent) {
        if (at->kind == Node::Kind::LOOP) {
            after(*at->bodies[0], 0, later);
        }
        ended = after(*at->list, at->index + 1, later);
    }
    return earlier.conflicts(later);
}

size_t remove_in(List &list, ir::Module &machine) {
    size_t removed = 0;
    for (auto &node : list.nodes) {
        if (node.kind == Node::Kind::BARRIER && !orders_something(node)) {
            machine.erase(node.op);
            node.op = nullptr;
            node.kind = Node::Kind::ACCESS;
            ++removed;
        }
        for (auto &body : node.bodies) {
            removed += remove_in(*body, machine);
        }
    }
    return removed;
}

}// namespace

size_t remove_needless_barriers(ir::Module &machine, ir::Function &function,
                                const BarrierFacts &facts) {
    AccessFinder finder{facts.threads, facts.views_overlap, *function.body};
    auto list = list_of(*function.body, finder);
    return remove_in(*list, machine);
}

}// namespace luisa::tile::simt
