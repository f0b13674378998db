#include "gate/elf_answer.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cmath>

namespace rampart::cli {
namespace {

namespace json = boost::json;

json::value number(double x) { return std::isfinite(x) ? json::value(x) : json::value(nullptr); }

}  // namespace

base::Result<Answer> elf_answer(const gate_log::DecisionFile& log,
                                const certification::GateConfig& config, const std::string& bound) {
    const auto method =
        bound == "t" ? stats::BoundMethod::kStudentT : stats::BoundMethod::kHoeffding;
    RAMPART_TRY(const auto result, gate_log::elf_test(log, config, method));
    Answer answer;
    answer.exit_code = result.passed ? ExitCode::kDone : ExitCode::kNo;
    answer.text = fmt::format(
        "ELF as printed (Weber et al. 2022), bound {}, delta {} for each group: {}\n"
        "no certificate: nothing is signed, no ledger is charged\n\n"
        "{:<32}{:>8}{:>8}{:>14}{:>14}{:>14}{:>8}\n",
        bound, result.delta, result.passed ? "passed" : "no solution found", "group", "people",
        "missing", "tau", "estimate", "lower bound", "passed");
    json::array groups;
    for (const auto& group : result.groups) {
        answer.text += fmt::format("{:<32}{:>8}{:>8}{:>+14.4f}{:>+14.4f}{:>+14.4f}{:>8}\n",
                                   group.name, group.records, group.missing, group.tau,
                                   group.estimate, group.lower, group.passed ? "yes" : "no");
        groups.push_back({{"name", group.name},
                          {"people", group.records},
                          {"missing", group.missing},
                          {"tau", number(group.tau)},
                          {"largest_weight", number(group.largest_weight)},
                          {"estimate", number(group.estimate)},
                          {"lower_bound", number(group.lower)},
                          {"passed", group.passed}});
    }
    answer.json = json::serialize(json::object{{"method", "elf"},
                                               {"bound", bound},
                                               {"certificate", nullptr},
                                               {"delta", result.delta},
                                               {"passed", result.passed},
                                               {"groups", groups}});
    answer.notes = {
        "a candidate that is made after reading these figures must be tested on other records"};
    return answer;
}

}  // namespace rampart::cli
