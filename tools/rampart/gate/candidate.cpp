// candidate: a model of the workbench as a candidate of the service.
#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/named_file.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/http/reasons.hpp"
#include "rampart/report/text_table.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options : NodeOptions {
    fs::path model, out;
    std::optional<double> step, approve_from, approve_rate;
    bool plan = false, submit = false;
    std::string new_epoch;
};

double real(const json::value& value) { return value.to_number<double>(); }

std::string percent(const json::value& share) { return fmt::format("{:.1f} %", 100 * real(share)); }

std::string chance(const json::value& value) { return value.is_null() ? "-" : percent(value); }

std::string groups_text(const json::object& made) {
    report::Table table{{"group", "persons", "approved before", "after", "chance of passing"}};
    const auto add = [&](const json::object& one, const std::string& name) {
        table.push_back({name, text_of(one.at("persons")), percent(one.at("approved_before")),
                         percent(one.at("approved_after")), chance(one.at("chance"))});
    };
    for (const auto& group : made.at("groups").as_array())
        add(group.as_object(), text_of(group.at("group")));
    add(made, "everybody");
    return report::align(table);
}

std::string plan_text(const json::object& made) {
    const auto& plan = made.at("plan").as_array();
    if (plan.empty()) return "";
    report::Table table{
        {"step", "decisions changed", "mean change", "left to the model", "chance of passing"}};
    for (const auto& step : plan) {
        table.push_back({text_of(step.at("step")), percent(step.at("changed")),
                         fmt::format("{:.4f}", real(step.at("mean_change"))),
                         fmt::format("{:.4f}", real(step.at("distance"))),
                         chance(step.at("chance"))});
    }
    return fmt::format(
        "\nThe way to the model's own decisions, if each step were promoted and no record came "
        "in:\n\n{}\n{}",
        report::align(table),
        made.at("reached").as_bool()
            ? fmt::format("The model's own decisions are reached, to {} in P(approve), after {} "
                          "steps.\n",
                          training::kReached, plan.size())
            : fmt::format("The model's own decisions are not reached within {} steps.\n",
                          plan.size()));
}

std::string verdict_text(const json::value& run) {
    const auto& message = run.at("message").as_string();
    return fmt::format("\n{}{}{}\ncertificate: {}\n", text_of(run.at("verdict")),
                       message.empty() ? "" : ": ", std::string_view(message),
                       text_of(run.at("certificate")));
}

std::string text(const json::object& made) {
    std::string out = fmt::format("candidate:   {}\nreference:   {}\nas known:    {}\n",
                                  text_of(made.at("candidate")), text_of(made.at("champion")),
                                  text_of(made.at("as_known_at")));
    for (const auto& [name, value] : made.at("figures").as_object())
        out +=
            fmt::format("{:<13}{}\n", fmt::format("{}:", std::string_view(name)), text_of(value));
    out += fmt::format(
        "\nOf the development set's {} persons {} would be decided with another P(approve), and {} "
        "with a higher one.\nThe mean change is {:.4f}, the largest {:.4f}; the model's own "
        "decisions are {:.4f} away on average.\n\n{}",
        text_of(made.at("persons")), percent(made.at("changed")), percent(made.at("raised")),
        real(made.at("mean_change")), real(made.at("largest_change")), real(made.at("distance")),
        groups_text(made));
    const auto& none = made.at("no_forecast").as_string();
    if (!none.empty()) out += fmt::format("\nNo forecast: {}\n", std::string_view(none));
    out += plan_text(made);
    const auto& run = made.at("run");
    return run.is_null() ? out : out + verdict_text(run);
}

std::string target(const Options& options) {
    std::string out =
        fmt::format("/v1/candidates?submit={}&file={}", options.submit ? "true" : "false",
                    options.out.empty() ? "false" : "true");
    const auto add = [&](std::string_view name, const std::string& value) {
        out += fmt::format("&{}={}", name, query_value(value));
    };
    if (options.step) add("step", fmt::format("{}", *options.step));
    if (options.approve_from) add("approve_from", fmt::format("{}", *options.approve_from));
    if (options.approve_rate) add("approve_rate", fmt::format("{}", *options.approve_rate));
    if (options.plan) add("plan", fmt::format("{}", training::kMaxPlanSteps));
    if (!options.new_epoch.empty()) add("new_epoch", options.new_epoch);
    return out;
}

/// Asks the node that serves the store or, if none does, opens the store.
Result<json::value> propose(const Options& options, const std::string& model) {
    auto answer = send_to_node(options.config, target(options), model);
    if (answer) return answer;
    const auto& error = answer.error();
    if (!error.is(Reason::kNotServing) && !error.is(http::Reason::kNoConnection)) return error;
    RAMPART_TRY(const auto node, open_existing(options.config));
    retraining::ProposalRequest request{.model = model,
                                        .submit = options.submit,
                                        .new_epoch = options.new_epoch,
                                        .proposed_by = options.actor};
    request.options = {options.step, options.approve_from, options.approve_rate,
                       options.plan ? training::kMaxPlanSteps : 0};
    RAMPART_TRY(const auto made, node->propose(request));
    return json::parse(retraining::encode(made, !options.out.empty()));
}

base::Status check(const Options& options) {
    if (!options.new_epoch.empty() && !options.submit) {
        return base::make_error(Reason::kMisuse,
                                "--new-epoch opens an epoch with a run of the gate: add --submit");
    }
    const auto folder = options.out.parent_path();
    std::error_code unreadable;
    if (folder.empty() || fs::is_directory(folder, unreadable)) return base::ok();
    return base::make_error(Reason::kNoSuchFolder, "--out: there is no folder '{}'",
                            folder.string());
}

Result<Answer> candidate(const Options& options) {
    RAMPART_RETURN_IF_ERROR(check(options));
    RAMPART_TRY(const auto model, base::read_file(options.model, base::limits::kMaxModelFileBytes));
    RAMPART_RETURN_IF_ERROR(named_file(model::decode_model_file(model)));
    RAMPART_TRY(auto answered, propose(options, model));
    auto& made = answered.as_object();
    Answer answer;
    if (!options.out.empty()) {
        RAMPART_TRY(const auto file, base::from_base64(made.at("file").as_string()));
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.out, file));
        made.erase("file");
        made["out"] = options.out.string();
    }
    answer.text = text(made);
    answer.json = json::serialize(made);
    const auto& run = made.at("run");
    if (!run.is_null() && run.at("verdict") != "CERTIFIED") answer.exit_code = ExitCode::kNo;
    answer.notes.push_back(
        "the chances are forecast on the development set: too high if the model has learnt from "
        "it; the gate reads the vault");
    if (run.is_null())
        answer.notes.push_back("nothing is registered; --submit takes the candidate to the gate");
    return answer;
}

}  // namespace

void add_candidate(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "candidate",
         .summary = "Put a model on the champion; say what it changes, take it to the gate",
         .example = "rampart candidate --model m.rmp --config rampartd.toml --plan",
         .detail =
             "The model, of `rampart train`, `import` or `postprocess`, becomes a link of the "
             "champion's chain, clipped to the trust region. With --submit it is registered and "
             "tested at the gate, which charges the error budget (δ ledger), and promoted if "
             "CERTIFIED, or proposed to people (training.on_certified); the same command again "
             "makes the next step. Exit code 1: any other "
             "verdict. A node that serves the store is asked; else the store is opened. Figures "
             "are of the development set alone."},
        [options](const Context&) { return candidate(*options); });
    command.add_option("--model", options->model, "model file")->required();
    command.add_option("--config", options->config, "rampartd.toml of the store")->required();
    command.add_option("--approve-from", options->approve_from,
                       "P(favourable) from which to approve; default: the model's own rule or, "
                       "without one, the break-even of the product");
    command.add_option("--approve-rate", options->approve_rate,
                       "share of the applicants to approve, instead");
    command.add_option("--step", options->step,
                       "largest step, as share of the way to certainty; default: training.kappa");
    command.add_flag("--plan", options->plan,
                     "say how many steps the way to the model's own decisions takes");
    command.add_option("--out", options->out, "model file of the candidate, to write");
    command.add_flag("--submit", options->submit, "take the candidate to the gate");
    command.add_option(
        "--new-epoch", options->new_epoch,
        "open a new epoch of the error budget with this run, if it is charged; the text is the "
        "reason");
    add_actor_option(command, options->actor);
}

}  // namespace rampart::cli
