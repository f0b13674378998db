// counterfactual: the declared changes that would have changed a decline that a store holds.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>

#include "frame/commands.hpp"
#include "frame/named_file.hpp"
#include "frame/node_access.hpp"
#include "rampart/attribution/probability.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/counterfactuals/reasons.hpp"
#include "rampart/counterfactuals/search.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/evaluation/model_table.hpp"
#include "rampart/report/probability.hpp"
#include "rampart/report/text_table.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;
using counterfactuals::Searched;

constexpr size_t kMaxChangesFile = 1 << 20;  // bytes

struct Options {
    std::filesystem::path config, changes;
    std::string decision;
    counterfactuals::SearchLimits limits;
};

struct Declared {
    counterfactuals::DeclaredChanges changes;
    base::Digest digest;  // SHA-256 of the file
};

/// A decline, with the policy and the group by which it was made.
struct Decline {
    domain::Decision decision;
    model::LoadedPolicy loaded;
    std::optional<size_t> group;
};

/// What is said of one decision.
struct WhatIf {
    domain::Decision decision;
    std::vector<dataset::FeatureSpec> features;  // the policy's
    std::vector<float> row;                      // the application, encoded
    Searched searched;
};

Result<Declared> read(const std::filesystem::path& file) {
    RAMPART_TRY(const auto text, base::read_file(file, kMaxChangesFile));
    RAMPART_TRY(auto changes, counterfactuals::parse_changes(text, file.filename().string()));
    return Declared{std::move(changes), base::sha256(text)};
}

/// Checks an answer the whole way of a decision: the changed application, encoded and drawn.
void check_answer(const WhatIf& of, const attribution::Probability& p,
                  const dataset::FeatureSchema& schema, const counterfactuals::Answer& answer) {
    const auto& decision = of.decision;
    const auto changed = counterfactuals::changed_application(decision.application, schema, answer);
    const auto row = decision::encode_row(changed, schema);
    RAMPART_CHECK(row && p(*row) == answer.p &&
                      domain::drawn_action(decision.draw, answer.p, 0) == domain::Action::kApprove,
                  "an answer about decision {} does not change it", decision.id);
}

/// Returns the decline, so that the store is not needed any more. Errors: those of the decision,
/// the policy and check_changes(); "not_a_decline".
Result<Decline> decline_in(rampartd::Node& node, const Options& options, const Declared& declared) {
    RAMPART_TRY(auto decision, node.decisions().find(domain::DecisionId(options.decision)));
    if (decision.action != domain::Action::kDecline)
        return base::make_error(counterfactuals::Reason::kNotADecline,
                                "decision {} is of the action {}", decision.id,
                                domain::to_string(decision.action));
    RAMPART_TRY(auto loaded, node.load_model(decision.policy));
    RAMPART_TRY(decision.application,
                decision::in_terms_of(decision.application, loaded.policy.schema(),
                                      node.settings().schema));
    std::vector<std::string> attributes;
    for (const auto& attribute : node.settings().catalog.attributes())
        attributes.push_back(attribute.name);
    RAMPART_RETURN_IF_ERROR(counterfactuals::check_changes(
        declared.changes, node.settings().product.name, loaded.policy.schema(), attributes));
    std::optional<size_t> group;
    if (loaded.policy.group_aware()) {
        RAMPART_TRY(const auto membership, node.attributes().membership_at(
                                               decision.application.person, decision.decided_at));
        if (membership.cell) group = *membership.cell;
    }
    return Decline{std::move(decision), std::move(loaded), group};
}

Result<WhatIf> what_if(Decline of_decline, const Options& options, const Declared& declared) {
    const auto& policy = of_decline.loaded.policy;
    WhatIf of;
    of.decision = std::move(of_decline.decision);
    of.features = policy.schema().features();
    RAMPART_TRY(of.row, decision::encode_row(of.decision.application, policy.schema()));
    RAMPART_TRY(const auto p,
                attribution::probability_of(of.decision, policy, of.row, of_decline.group));
    of.searched = counterfactuals::find_changes(p, policy, of.row, declared.changes,
                                                of.decision.draw, options.limits);
    for (const auto& answer : of.searched.answers) check_answer(of, p, policy.schema(), answer);
    return of;
}

std::string p_text(double p, double draw) { return report::probability_text(p, {draw}); }

bool by_exploration(const domain::Decision& decision) { return decision.draw < decision.p_exploit; }

/// Says what part the draw had in the decline.
std::string draw_text(const domain::Decision& decision) {
    const auto p = p_text(decision.p_approve, decision.draw),
               u = p_text(decision.draw, decision.p_approve);
    if (by_exploration(decision))
        return fmt::format(
            "draw {} is not below P(approve) {}. Exploration declined: without it this draw would "
            "have approved the application as it was, and no change was needed\n",
            u, p);
    if (decision.p_approve == 0)
        return fmt::format("draw {}; P(approve) was 0: no draw would have approved\n", u);
    return fmt::format(
        "draw {} is not below P(approve) {}: a draw below it would have approved the application "
        "as it was\n",
        u, p);
}

std::string answer_text(const WhatIf& of, const counterfactuals::Answer& answer, size_t number) {
    report::Table table{{"feature", "was", "would be"}};
    for (const auto& [feature, value] : answer.changed) {
        const auto& spec = of.features[feature];
        table.push_back({spec.name, evaluation::value_text(spec, of.row[feature]),
                         evaluation::value_text(spec, value)});
    }
    const auto chance = answer.p < 1 ? fmt::format(
                                           "; by another draw it would have been approved "
                                           "with probability {}",
                                           p_text(answer.p, of.decision.draw))
                                     : std::string("; every draw approves");
    return fmt::format("\n{}. distance {:.4g}: P(approve) {}, above the draw{}\n{}", number,
                       answer.distance, p_text(answer.p, of.decision.draw), chance,
                       report::align(table));
}

/// Names the declared features that no combination changes; empty: there is none.
std::string missing_text(const WhatIf& of) {
    std::string names;
    for (const size_t feature : of.searched.missing)
        names += (names.empty() ? "" : ", ") + of.features[feature].name;
    return names.empty() ? "" : "; not changed, as the application does not have it: " + names;
}

std::string result_text(const WhatIf& of) {
    const auto& found = of.searched;
    const auto highest =
        fmt::format("the highest P(approve) that was met, as it was and with changes, is {}",
                    p_text(found.most_p, of.decision.draw));
    if (found.answers.empty() && found.complete)
        return fmt::format(
            "none exists: no combination of the declared changes would have changed this decision "
            "({} tried{}); {}\n",
            found.tried, missing_text(of), highest);
    if (found.answers.empty())
        return fmt::format(
            "none found within the bounds: {} combinations were tried, all that are nearer than "
            "{:.4g}; a farther one may exist; {}\n",
            found.tried, found.tried_to, highest);
    std::string text;
    for (size_t i = 0; i < found.answers.size(); ++i)
        text += answer_text(of, found.answers[i], i + 1);
    if (found.complete)
        return text + "\nno further way: whatever else works has all features of one above\n";
    return text +
           fmt::format("\nfurther ways may exist, from the distance {:.4g} on\n", found.tried_to);
}

constexpr const char* kClaim =
    "claim: with these values and all else as it was, this policy and this draw would have "
    "approved. What else may follow from a change is not looked at, and it promises nothing of a "
    "further application, which the policy of then decides\n";

json::object answer_json(const WhatIf& of, const counterfactuals::Answer& answer) {
    const auto value_json = [](const dataset::FeatureSpec& spec, float value) {
        if (spec.kind == dataset::FeatureKind::kNumeric)
            return json::value(counterfactuals::declared_number(value));
        return json::value(evaluation::value_text(spec, value));
    };
    json::array changes;
    for (const auto& [feature, value] : answer.changed) {
        const auto& spec = of.features[feature];
        changes.push_back(json::object{{"feature", spec.name},
                                       {"was", value_json(spec, of.row[feature])},
                                       {"would_be", value_json(spec, value)}});
    }
    return {
        {"distance", answer.distance}, {"p_approve", answer.p}, {"changes", std::move(changes)}};
}

std::string json_of(const WhatIf& of, const Declared& declared) {
    const auto& found = of.searched;
    json::array answers, missing;
    for (const auto& answer : found.answers) answers.push_back(answer_json(of, answer));
    for (const size_t feature : found.missing)
        missing.push_back(json::value(of.features[feature].name));
    return json::serialize(json::object{{"decision_id", of.decision.id.value()},
                                        {"policy_id", of.decision.policy.value()},
                                        {"draw", of.decision.draw},
                                        {"p_approve", of.decision.p_approve},
                                        {"p_exploit", of.decision.p_exploit},
                                        {"declined_by_exploration", by_exploration(of.decision)},
                                        {"changes_sha256", declared.digest.hex()},
                                        {"result", !found.answers.empty() ? "found"
                                                   : found.complete       ? "none_exists"
                                                                          : "none_found"},
                                        {"answers", std::move(answers)},
                                        {"every_combination_tried", found.complete},
                                        {"tried", found.tried},
                                        {"not_changed_as_missing", std::move(missing)},
                                        {"all_tried_below_distance", found.tried_to},
                                        {"highest_p", found.most_p}});
}

Result<Answer> counterfactual(const Options& options) {
    // before a store is opened
    RAMPART_TRY(const auto declared, named_file(read(options.changes)));
    std::optional<Decline> decline;
    {
        RAMPART_TRY(const auto node, open_existing(options.config));
        RAMPART_TRY(decline, decline_in(*node, options, declared));
    }
    RAMPART_TRY(const auto of, what_if(*std::move(decline), options, declared));
    Answer answer;
    answer.text = fmt::format(
        "decision {}: decline, by policy {}\nchanges as declared: SHA-256 {}\n{}{}{}",
        of.decision.id, of.decision.policy, declared.digest.hex(), draw_text(of.decision),
        result_text(of), of.searched.answers.empty() ? "" : kClaim);
    answer.json = json_of(of, declared);
    if (of.searched.answers.empty())
        answer.exit_code = of.searched.complete ? ExitCode::kImpossible : ExitCode::kNo;
    return answer;
}

}  // namespace

void add_counterfactual(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "counterfactual",
         .summary = "Find the nearest changes with which a declined application of a store would "
                    "have been approved",
         .example = "rampart counterfactual --config rampartd.toml --decision "
                    "d679f55ec802f10f2fde94e4d4327ac1 --changes changes.toml",
         .detail = "Only declared changes of features are tried, in the order of their distance, "
                   "each on the policy that decided and against the decision's own draw. Exit "
                   "code 3: no combination of them would have changed the decision; 1: none was "
                   "found among those that were tried. No node may be serving the store, which is "
                   "released before the search."},
        [options](const Context&) { return counterfactual(*options); });
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--decision", options->decision, "id of the decision, a decline")
        ->required();
    command
        .add_option("--changes", options->changes,
                    "what applicants can act on, TOML, such as "
                    "ops/config/letters/simulated/changes.toml")
        ->required();
    command
        .add_option("--most", options->limits.answers,
                    "number of answers; none has all features of one before it")
        ->check(CLI::Range(size_t{1}, counterfactuals::kMaxAnswers))
        ->capture_default_str();
    command.add_option("--tries", options->limits.tried, "combinations that are tried, at most")
        ->check(CLI::Range(size_t{1}, counterfactuals::kMaxTried))
        ->capture_default_str();
}

}  // namespace rampart::cli
