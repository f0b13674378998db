// compare --policy: two registered policies on the decisions that a store has logged
#include "audit/compare_on_log.hpp"

#include <algorithm>
#include <boost/json.hpp>

#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/report/text_table.hpp"
#include "services/rampartd/compare.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;
using ope::ComparedRecords;
using ope::MeanImpact;

constexpr const char* kDoublyRobust =
    "doubly robust: importance sampling by the logged probabilities, about a linear regression of "
    "the impact on features and action, each person by the other four fifths of the persons";
constexpr const char* kImportanceSampling =
    "importance sampling by the logged probabilities, without a regression";

/// What the figures rest on.
std::vector<std::string> assumptions_of(const rampartd::CompareReport& report) {
    const auto& of = report.comparison;
    std::vector<std::string> out{
        "each decision was drawn with the probability that the log has of it",
        "the outcome of a decision does not depend on which policy made it",
        "persons are independent; an interval is Student's t over persons, approximate, and each "
        "holds by itself",
        "no outcome of a person of the vault is read: a certificate by the gate says what these "
        "figures cannot"};
    if (of.decided_before > 0)
        out.push_back(fmt::format(
            "{} of {} decisions were made before {}, when the later policy was registered: a "
            "policy "
            "that learnt from their outcomes looks better on them than it is; give --from {} to "
            "leave them out",
            of.decided_before, of.found.all.records, base::to_iso8601(report.registered),
            base::to_iso8601(report.registered)));
    return out;
}

std::string share(double x) { return fmt::format("{:.2f} %", 100 * x); }
std::string number(double x) { return fmt::format("{:.4g}", x); }
std::string ends(const stats::Interval& x) {
    return fmt::format("[{}, {}]", number(x.lo), number(x.hi));
}

/// Returns the estimate; where the log does not say, what is certain.
std::string mean_text(const MeanImpact& impact) {
    if (!impact.mean) return "cannot say";
    const auto& [lo, hi] = *impact.mean;
    if (impact.unsupported > 0) return "cannot say: in " + ends({lo, hi});
    return lo == hi ? number(lo) : "in " + ends({lo, hi});
}
std::string interval_text(const MeanImpact& impact) {
    return impact.interval ? ends(*impact.interval) : "–";
}

void add_approvals(report::Table& table, const std::vector<ComparedRecords>& parts) {
    for (const auto& part : parts) {
        std::vector<std::string> line{part.name, std::to_string(part.persons)};
        if (const auto& a = part.approved)
            for (const double x : {a->both, a->first_only, a->second_only, a->neither})
                line.push_back(share(x));
        else
            line.insert(line.end(), {"too few", "–", "–", "–"});
        line.push_back(part.psi ? fmt::format("{:.4f}", *part.psi) : "–");
        table.push_back(std::move(line));
    }
}

void add_values(report::Table& table, const std::vector<ComparedRecords>& parts) {
    for (const auto& part : parts) {
        if (!part.approved) {
            table.push_back({part.name, "too few", "–", "–", "–", "–", "–", "–"});
            continue;
        }
        const auto& d = part.difference;
        table.push_back({part.name, mean_text(part.first), interval_text(part.first),
                         mean_text(part.second), interval_text(part.second), mean_text(d),
                         interval_text(d), fmt::format("{:.0f}", d.effective)});
    }
}

std::string tables_of(const rampartd::CompareReport& report, double confidence) {
    const auto& found = report.comparison.found;
    const char* bands = report.comparison.bands_by_second ? "score of second" : "score of first";
    const auto interval = fmt::format("{:.4g} %", 100 * confidence);
    std::string text;
    const auto approvals = [&](const std::string& title,
                               const std::vector<ComparedRecords>& parts) {
        report::Table table{{title, "persons", "both", "first only", "second only", "neither",
                             "PSI of P(approve)"}};
        add_approvals(table, parts);
        text += report::align(table) + "\n";
    };
    const auto values = [&](const std::string& title, const std::vector<ComparedRecords>& parts) {
        report::Table table{{title, "first", interval, "second", interval, "second - first",
                             interval, "worth persons"}};
        add_values(table, parts);
        text += report::align(table) + "\n";
    };
    text += "approved by which, with the same draw for both\n\n";
    approvals("all", {found.all});
    if (!found.groups.empty()) approvals("group", found.groups);
    approvals(bands, found.bands);
    text += fmt::format("mean impact of a decision, in {}\n\n", report.impact_units);
    values("all", {found.all});
    if (!found.groups.empty()) values("group", found.groups);
    values(bands, found.bands);
    return text;
}

/// Says why figures are missing or no more than bounds.
std::string reasons_of(const rampartd::CompareReport& report) {
    const auto& of = report.comparison;
    const auto& d = of.found.all.difference;
    std::string text;
    const auto says = [&](size_t count, std::string_view what) {
        if (count > 0) text += fmt::format("{} {}\n", count, what);
    };
    text += fmt::format(
        "too few: fewer than {} persons; cannot say: outcomes that tell are worth "
        "fewer than {} persons, or the log never has an action that counts\n",
        ope::kFewestPersons, ope::kFewestPersons);
    says(d.unsupported,
         "decisions were made where an action that counts was never taken: they are valued between "
         "the least and the most that the declared range allows");
    says(d.missing,
         "outcomes that count are not on record: likewise between the least and the most");
    says(of.found.in_no_group, "of the decisions are in no group: protected attributes not known");
    says(of.repeats, "decisions with an earlier one's draw are left out");
    says(of.later, "decisions that are not their person's first are left out");
    says(of.undecidable, "decisions are left out because a policy needs a group that is not known");
    says(of.stopped, "decisions made while a stop button was pressed are left out");
    says(of.unexplained,
         "decisions, of either side and since --from, are not explained by the schema file: they "
         "are set aside");
    if (report.extent.seed)
        text += fmt::format("{} of {} decisions were read: a sample of persons\n",
                            report.extent.read, report.extent.there);
    return text;
}

bool any_in_a_group(const ope::PolicyComparison& found) {
    return std::any_of(found.groups.begin(), found.groups.end(),
                       [](const auto& group) { return group.records > 0; });
}

json::value ends_of(const std::optional<stats::Interval>& x) {
    if (!x) return nullptr;
    return json::array{x->lo, x->hi};
}

json::object object_of(const MeanImpact& impact) {
    const char* said = !impact.mean             ? "too_few"
                       : impact.unsupported > 0 ? "no_support"
                       : impact.missing > 0     ? "bounded"
                                                : "estimated";
    return {{"said", said},
            {"mean", ends_of(impact.mean)},
            {"interval", ends_of(impact.interval)},
            {"effective_persons", impact.effective},
            {"missing", impact.missing},
            {"unsupported", impact.unsupported}};
}

json::object object_of(const ComparedRecords& part) {
    json::object out{{"name", part.name}, {"decisions", part.records}, {"persons", part.persons}};
    if (const auto& a = part.approved)
        out["approved"] = json::object{{"both", a->both},
                                       {"first_only", a->first_only},
                                       {"second_only", a->second_only},
                                       {"neither", a->neither}};
    else
        out["approved"] = nullptr;
    out["psi"] = part.psi ? json::value(*part.psi) : json::value(nullptr);
    out["first"] = object_of(part.first);
    out["second"] = object_of(part.second);
    out["difference"] = object_of(part.difference);
    return out;
}

json::array array_of(const std::vector<ComparedRecords>& parts) {
    json::array out;
    for (const auto& part : parts) out.push_back(object_of(part));
    return out;
}

json::object document_of(const LogComparisonOptions& options,
                         const rampartd::CompareReport& report) {
    const auto& of = report.comparison;
    json::array assumptions;
    for (const auto& one : assumptions_of(report)) assumptions.emplace_back(one);
    const auto time = [](const std::string& text) {
        return text.empty() ? json::value(nullptr) : json::value(text);
    };
    return {{"first", options.policies[0]},
            {"second", options.policies[1]},
            {"from", time(options.from)},
            {"to", time(options.to)},
            {"as_known_at", base::to_iso8601(report.as_known_at)},
            {"side", "development"},
            {"confidence", options.confidence},
            {"impact_units", report.impact_units},
            {"estimator", of.doubly_robust ? "doubly_robust" : "importance_sampling"},
            {"assumptions", std::move(assumptions)},
            {"decided_before_registration", of.decided_before},
            {"fewest_persons", ope::kFewestPersons},
            {"left_out",
             {{"repeats", of.repeats},
              {"later_of_a_person", of.later},
              {"group_unknown", of.undecidable},
              {"stopped", of.stopped},
              {"other_schema", of.unexplained}}},
            {"in_no_group", of.found.in_no_group},
            {"all", object_of(of.found.all)},
            {"groups", array_of(of.found.groups)},
            {"bands_by", of.bands_by_second ? "second" : "first"},
            {"bands", array_of(of.found.bands)}};
}

Result<std::optional<base::TimePoint>> time_of(const char* flag, const std::string& text) {
    if (text.empty()) return std::nullopt;
    const auto time = base::parse_iso8601(text);
    if (!time) return time.error().with_context(flag);
    return *time;
}

}  // namespace

Result<Answer> compare_on_log(const LogComparisonOptions& options) {
    if (options.policies.size() != 2)
        return base::make_error(Reason::kMisuse,
                                "--policy: {} given; name two registered models, as `rampart "
                                "models` lists them, each with --policy",
                                options.policies.size());
    if (!(options.confidence > 0 && options.confidence < 1))
        return base::make_error(Reason::kMisuse, "--confidence: is {}; give one in (0, 1)",
                                options.confidence);
    rampartd::CompareRequest request{
        options.policies[0], options.policies[1], {}, {}, options.confidence};
    RAMPART_TRY(request.from, time_of("--from", options.from));
    RAMPART_TRY(request.to, time_of("--to", options.to));
    RAMPART_TRY(const auto node, open_existing(options.config));
    RAMPART_TRY(const auto report, rampartd::compare_on_log(*node, request));
    const auto& of = report.comparison;
    Answer answer;
    answer.text = fmt::format(
        "first   {}\nsecond  {}\n{} decisions about as many persons of the "
        "development side, as known at {}\n\n",
        options.policies[0], options.policies[1], of.found.all.records,
        base::to_iso8601(report.as_known_at));
    answer.text += tables_of(report, options.confidence) + reasons_of(report);
    answer.text += fmt::format("\nestimator: {}{}\nassumed:\n",
                               of.doubly_robust ? kDoublyRobust : kImportanceSampling,
                               of.no_regression.empty() ? "" : " (" + of.no_regression + ")");
    for (const auto& one : assumptions_of(report)) answer.text += "- " + one + "\n";
    answer.json = json::serialize(document_of(options, report));
    if (!any_in_a_group(of.found))
        answer.notes.push_back(
            "no figure by group: the protected attributes of none of these persons are known; "
            "state them by POST /v1/protected-attributes");
    return answer;
}

}  // namespace rampart::cli
