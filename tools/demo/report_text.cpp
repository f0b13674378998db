#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "tools/demo/report.hpp"

namespace rampart::demo {
namespace {

namespace json = boost::json;

json::value number(double v) { return std::isfinite(v) ? json::value(v) : json::value(nullptr); }

json::object to_json(const std::map<std::string, double>& values) {
    json::object out;
    for (const auto& [name, value] : values) out[name] = number(value);
    return out;
}

json::object to_json(const std::map<std::string, long>& values) {
    json::object out;
    for (const auto& [name, value] : values) out[name] = value;
    return out;
}

json::value to_json(const Month& month) {
    json::object groups;
    for (const auto& [name, g] : month.by_group) {
        groups[name] = {
            {"applications", g.applications},
            {"approved", g.approved},
            {"explored", g.explored},
            {"approved_with_known_outcome", g.approved_known},
            {"defaults", g.defaults},
            {"mean_impact", g.impact_known == 0
                                ? json::value(nullptr)
                                : number(g.impact / static_cast<double>(g.impact_known))}};
    }
    return {{"month", month.month},
            {"by_group", groups},
            {"decisions_by_policy", to_json(month.decisions_by_policy)}};
}

json::value to_json(const PolicyReport& p) {
    const auto text = [](const std::string& s) {
        return s.empty() ? json::value(nullptr) : json::value(s);
    };
    return {{"id", p.id},
            {"name", p.name},
            {"certified", p.certified},
            {"links", p.links},
            {"learner", text(p.learner)},
            {"live_from", text(p.live_from)},
            {"live_to", text(p.live_to)},
            {"true_value_by_group", to_json(p.value)}};
}

json::value to_json(const GateRun& run) {
    json::array groups;
    for (const auto& g : run.groups) {
        groups.push_back(
            {{"name", g.name},
             {"units", g.units},
             {"estimate", number(g.estimate)},
             {"lower_bound", number(g.lower_bound)},
             {"t_lower_bound", number(g.t_lower_bound)},
             {"log_wealth", number(g.log_wealth)},
             {"log_wealth_needed", number(g.log_wealth_needed)},
             {"passed", g.passed},
             {"true_gain", g.true_gain ? number(*g.true_gain) : json::value(nullptr)}});
    }
    return {{"run", run.run},
            {"time", run.time},
            {"verdict", run.verdict},
            {"detail", run.detail},
            {"delta", run.delta},
            {"candidate", run.candidate},
            {"reference", run.reference},
            {"certificate", run.certificate_file},
            {"groups", groups},
            {"right", run.right ? json::value(*run.right) : json::value(nullptr)}};
}

/// Writes indented JSON: Boost.JSON writes compact text only.
void write_pretty(const json::value& value, std::string& out, size_t indent) {
    const auto children = [&](char open, char close, size_t count, auto each) {
        out += open;
        for (size_t i = 0; i < count; ++i) {
            out += (i == 0 ? "\n" : ",\n") + std::string(indent + 2, ' ');
            each(i);
        }
        if (count > 0) out += "\n" + std::string(indent, ' ');
        out += close;
    };
    if (const auto* object = value.if_object()) {
        children('{', '}', object->size(), [&](size_t i) {
            const auto& entry = *(object->begin() + static_cast<std::ptrdiff_t>(i));
            out += json::serialize(json::string(entry.key())) + ": ";
            write_pretty(entry.value(), out, indent + 2);
        });
    } else if (const auto* array = value.if_array()) {
        children('[', ']', array->size(),
                 [&](size_t i) { write_pretty((*array)[i], out, indent + 2); });
    } else if (const auto* real = value.if_double()) {
        out += fmt::format("{}", *real);
    } else {
        out += json::serialize(value);
    }
}

}  // namespace

std::string to_json(const Report& r) {
    json::object out;
    out["stream"] = r.stream;
    out["data"] = r.data;
    out["broker"] = r.broker;
    out["version"] = r.version;
    out["seed"] = r.seed;
    out["learner"] = r.learner;
    out["rows"] = r.rows;
    out["impact"] = {{"units", r.impact_units}, {"range", {r.impact_lo, r.impact_hi}}};
    out["groups"] = json::value_from(r.groups);
    out["final_not_below_first_in_any_group"] = r.final_not_below_first;
    out["true_value_first_policy"] = to_json(r.value_first);
    out["true_value_final_policy"] = to_json(r.value_final);
    out["approved_by_first_policy"] = to_json(r.approved_first);
    out["approved_by_final_policy"] = to_json(r.approved_final);
    out["certificates"] = {{"issued", r.certificates}, {"right", r.certificates_right}};
    json::array runs, policies, months, ledger;
    for (const auto& run : r.gate_runs) runs.push_back(to_json(run));
    for (const auto& policy : r.policies) policies.push_back(to_json(policy));
    for (const auto& month : r.months) months.push_back(to_json(month));
    for (const auto& l : r.ledger) {
        ledger.push_back({{"epoch", l.epoch},
                          {"run", l.run},
                          {"delta", l.delta},
                          {"spent", l.spent},
                          {"time", l.time},
                          {"candidate", l.candidate},
                          {"verdict", l.verdict},
                          {"hash", l.hash}});
    }
    out["gate_runs"] = runs;
    out["policies"] = policies;
    out["ledger"] = {{"delta_epoch", r.delta_epoch}, {"entries", ledger}};
    out["joiner"] = to_json(r.joiner);
    out["months"] = months;
    out["state_hash"] = r.state_hash;
    out["seconds"] = to_json(r.seconds);
    std::string text;
    write_pretty(out, text, 0);
    return text + "\n";
}

std::string to_text(const Report& r) {
    std::string out = fmt::format("{}: {} applicants from {}, seed {}, learner {}\n\n", r.stream,
                                  r.rows, r.data, r.seed, r.learner);
    out +=
        fmt::format("{:>4}  {:<10}  {:<18}  {:>7}  {:<28}  {:>9}  {:>11}  {:>9}\n", "run", "time",
                    "verdict", "delta", "weakest group", "estimate", "lower bound", "true gain");
    for (const auto& run : r.gate_runs) {
        const auto weakest = std::min_element(
            run.groups.begin(), run.groups.end(),
            [](const auto& a, const auto& b) { return a.lower_bound < b.lower_bound; });
        out += fmt::format("{:>4}  {:<10}  {:<18}  {:>7}  ", run.run, run.time.substr(0, 10),
                           run.verdict, run.delta > 0 ? fmt::format("{:.5f}", run.delta) : "-");
        out += weakest == run.groups.end()
                   ? run.detail + "\n"
                   : fmt::format(
                         "{:<28}  {:>+9.3f}  {:>+11.3f}  {:>9}\n", weakest->name, weakest->estimate,
                         weakest->lower_bound,
                         weakest->true_gain ? fmt::format("{:+.3f}", *weakest->true_gain) : "-");
    }
    out += fmt::format("\nTrue mean impact per applicant of the vault ({})\n{:<28}  {:>9}  {:>9}\n",
                       r.impact_units, "group", "first", "final");
    for (const auto& [group, first] : r.value_first) {
        const auto final_value = r.value_final.find(group);
        out += fmt::format(
            "{:<28}  {:>+9.3f}  {:>9}\n", group, first,
            final_value == r.value_final.end() ? "-" : fmt::format("{:+.3f}", final_value->second));
    }
    out += fmt::format(
        "\n{} of {} gate runs certified; the hidden truth confirms {} of {} certificates.\n",
        r.certificates, r.gate_runs.size(), r.certificates_right, r.certificates);
    out += fmt::format("Final policy not below the first in any group: {}\n",
                       r.final_not_below_first ? "yes" : "NO");
    return out;
}

}  // namespace rampart::demo
