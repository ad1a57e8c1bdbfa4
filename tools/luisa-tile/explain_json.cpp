// SPDX-License-Identifier: Apache-2.0
#include "explain.h"

#include <nlohmann/json.hpp>

namespace tool {

namespace {

using nlohmann::json;
using lt::Explanation;

json of(const Explanation::Place &p) { return {{"file", p.file}, {"line", p.line}}; }
json of(const Explanation::Named &n) { return {{"name", n.name}, {"extent", n.extent}}; }
json of(const Explanation::Fact &f) { return {{"name", f.name}, {"value", f.value}}; }
json of(const Explanation::Root &r) { return {{"what", r.what}, {"place", of(r.place)}}; }
json of(const Explanation::Alternative &a) {
    return {{"what", a.what},
            {"alternative", a.alternative},
            {"reason", a.reason},
            {"place", of(a.place)}};
}
json of(const Explanation::Instruction &i) { return i.text; }

json of(const Explanation::Phase &p) {
    return {{"function", p.function},
            {"place", of(p.place)},
            {"tasks", p.tasks},
            {"grain", p.grain},
            {"task_us", p.task_us}};
}

json of(const Explanation::Nest &n) {
    return {{"depth", n.depth},   {"kind", n.kind},
            {"domain", n.domain}, {"executions", n.executions},
            {"trips", n.trips},   {"place", of(n.place)},
            {"stages", n.stages}, {"realization", n.realization}};
}

json of(const Explanation::Value &v) {
    return {{"name", v.name},
            {"type", v.type},
            {"function", v.function},
            {"shares", v.shares},
            {"offset", v.offset},
            {"bytes", v.bytes},
            {"first_step", v.first_step},
            {"last_step", v.last_step},
            {"place", of(v.place)}};
}

template<class T> json list(const std::vector<T> &all) {
    auto out = json::array();
    for (const auto &x : all) {
        out.push_back(of(x));
    }
    return out;
}

json step(const Explanation::Step &s, const Roof &roof) {
    return {{"number", s.number},
            {"parent", s.parent},
            {"phase", s.phase},
            {"kind", s.kind},
            {"title", s.title},
            {"place", of(s.place)},
            {"loops", list(s.loops)},
            {"vector_axis", s.vector_axis},
            {"lanes", s.lanes},
            {"facts", list(s.facts)},
            {"roots", list(s.roots)},
            {"executions", s.executions},
            {"flops", s.flops},
            {"loaded_bytes", s.loaded},
            {"stored_bytes", s.stored},
            {"predicted_us", s.predicted_us ? json(*s.predicted_us) : json()},
            {"intensity", roof.intensity},
            {"attainable_flops", roof.attainable},
            {"predicted_flops", roof.predicted},
            {"alternatives", list(s.alternatives)},
            {"assembly", list(s.assembly)}};
}

json times(const CompileTimes &t) {
    return t.known ? json{{"total_ms", t.total_ms},     {"plan_ms", t.plan_ms},
                          {"realize_ms", t.realize_ms}, {"emit_ms", t.emit_ms},
                          {"codegen_ms", t.codegen_ms}, {"link_ms", t.link_ms}}
                   : json();
}

json kernel(const Subject &subject, const MachineLimits &limits) {
    const auto &about = subject.about;
    auto steps = json::array();
    for (const auto &s : about.steps) {
        steps.push_back(step(s, roof_of(s, about, limits)));
    }
    return {{"name", about.kernel},
            {"cpu", about.cpu},
            {"vector_bytes", about.vector_bytes},
            {"vector_registers", about.vector_registers},
            {"threads", about.threads},
            {"l1_bytes", about.l1_bytes},
            {"l2_bytes", about.l2_bytes},
            {"tile_ir", about.tile_ir},
            {"plan", about.plan},
            {"scratch_bytes", about.scratch_bytes},
            {"shared_bytes", about.shared_bytes},
            {"assumed_extents", list(about.assumed)},
            {"flops", about.flops},
            {"loaded_bytes", about.loaded},
            {"stored_bytes", about.stored},
            {"work_known", about.work_known},
            {"work_exact", about.work_exact},
            {"lines", list(about.lines)},
            {"phases", list(about.phases)},
            {"nests", list(about.nests)},
            {"steps", steps},
            {"values", list(about.values)},
            {"notes", about.notes},
            {"alternatives", list(about.alternatives)},
            {"other_assembly", list(about.other_assembly)},
            {"compile", times(subject.times)}};
}

}// namespace

std::string to_json(const ExplainPage &page) {
    auto sources = json::array();
    for (const auto &source : page.sources) {
        sources.push_back({{"name", source.name}, {"found", !source.lines.empty()}});
    }
    auto kernels = json::array();
    for (const auto &subject : page.kernels) {
        kernels.push_back(kernel(subject, page.limits));
    }
    json all{{"title", page.title},
             {"version", page.version},
             {"machine",
              {{"flops", page.limits.flops},
               {"bandwidth", page.limits.bandwidth},
               {"origin", page.limits.origin}}},
             {"sources", sources},
             {"kernels", kernels}};
    return all.dump(2) + "\n";
}

}// namespace tool
