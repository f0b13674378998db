#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/named_file.hpp"
#include "frame/named_secret.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/decision/draw.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/http/client.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options {
    fs::path application, model, token_file;
    fs::path draw_key;
    std::string url, group, at;
    http::ClientTls tls;
    decision::CoolOff cool_off;
};

/// Returns the draw that a service would take at the time of --at, or else of the application.
Result<double> draw_of(const Options& options, const domain::Application& application) {
    if (std::error_code error; !fs::exists(options.draw_key, error)) {
        return base::make_error(base::Reason::kNoSuchFile,
                                "--draw-key {}: there is no such file; a store has it as keys/draw",
                                options.draw_key.string());
    }
    if (options.cool_off.product.empty()) {
        return base::make_error(base::Reason::kBadUsage,
                                "--draw-key needs --product: draws differ between products");
    }
    base::TimePoint now = application.event_time;
    if (!options.at.empty()) {
        RAMPART_TRY(now, base::parse_iso8601(options.at));
    }
    RAMPART_TRY(auto secret, named_file(runtime::load_secret(options.draw_key)));
    const decision::DrawKey key{{}, std::move(secret)};
    const auto& person = application.person;
    return decision::window_draw(key, person,
                                 decision::draw_window(key, person, options.cool_off, now));
}

/// What the score can be, and, with a key, what is drawn.
base::Status put_scores(const Options& options, const domain::Application& application,
                        const std::vector<model::ScoreMass>& scores,
                        const model::PolicyOutput& output, Answer& answer, json::object& out) {
    json::array list;
    answer.text += "\nscore       probability\n";
    for (const auto& [score, weight] : scores) {
        list.push_back({{"score", score}, {"probability", weight}});
        answer.text += fmt::format("{:.6f}    {:.6f}\n", score, weight);
    }
    out["scores"] = std::move(list);
    if (options.draw_key.empty()) return base::ok();
    RAMPART_TRY(const double draw, draw_of(options, application));
    const auto id = domain::decision_id_of(application.id);
    const double drawn = model::drawn_score(scores, draw);
    const bool approved = draw < output.approve;
    answer.text += fmt::format("\ndecision {}: drawn score {:.6f}, {}\n", id.value(), drawn,
                               approved ? "approve" : "decline");
    out["decision_id"] = id.value();
    out["draw"] = draw;
    out["drawn_score"] = drawn;
    out["action"] = approved ? "approve" : "decline";
    out["propensity"] = approved ? output.approve : 1 - output.approve;
    return base::ok();
}

/// What a policy would say: probabilities, nothing logged; a draw only with the key of one.
Result<Answer> what_if(const Options& options) {
    RAMPART_TRY(const auto text,
                base::read_file(options.application, base::limits::kMaxRequestBytes));
    RAMPART_TRY(const auto application, wire::application_from_json(text));
    RAMPART_TRY(const auto loaded, named_file(model::load_model_file(options.model)));
    const auto& policy = loaded.policy;
    RAMPART_TRY(const auto row, decision::encode_row(application, policy.schema()));
    std::optional<size_t> group;
    if (policy.group_aware()) {
        const auto& names = policy.group_names();
        const auto it = std::find(names.begin(), names.end(), options.group);
        if (it == names.end()) {
            return base::make_error(Reason::kGroupUnknown,
                                    "the policy decides by group; give --group, one of: {}",
                                    fmt::join(names, "; "));
        }
        group = static_cast<size_t>(it - names.begin());
    }
    const auto output = policy.evaluate(row, group);
    Answer answer;
    answer.text = fmt::format(
        "{}{:.6f}\nP(approve), no exploration   {:.6f}\nP(approve)                   {:.6f}\n",
        policy.draws_score() ? "score, mean (one is drawn)   " : "score (P favourable)         ",
        output.score, output.exploit, output.approve);
    json::object out{{"policy_id", loaded.id.value()},
                     {"score", output.score},
                     {"p_exploit", output.exploit},
                     {"p_approve", output.approve}};
    if (policy.draws_score() || !options.draw_key.empty()) {
        RAMPART_RETURN_IF_ERROR(
            put_scores(options, application, policy.scores(row, group), output, answer, out));
    }
    answer.json = json::serialize(out);
    return answer;
}

Result<Answer> ask_service(const Options& options) {
    RAMPART_TRY(auto body, base::read_file(options.application, base::limits::kMaxRequestBytes));
    http::ClientOptions client_options;
    if (!options.token_file.empty()) {
        RAMPART_TRY(const auto file, named_secret(options.token_file));
        RAMPART_TRY(client_options.token, base::read_file(file, 4096));
        client_options.token.erase(client_options.token.find_last_not_of('\n') + 1);
    }
    client_options.tls = options.tls;
    RAMPART_TRY(client_options.tls.key, named_secret(options.tls.key));
    RAMPART_TRY(auto client, http::Client::create(options.url, client_options));
    RAMPART_TRY(const auto response, client.post("/v1/decisions", std::move(body)));
    if (response.status >= 300) {
        return base::make_error(Reason::kServiceRefused, "the service answered {}: {}",
                                response.status, response.body.substr(0, 1000));
    }
    Answer answer;
    answer.json = response.body;
    if (const auto decision = wire::decision_from_json(response.body)) {
        answer.text =
            fmt::format("{}  {}  P(approve) {:.4f}  propensity {:.4f}  policy {}\n", decision->id,
                        domain::to_string(decision->action), decision->p_approve,
                        decision->propensity, decision->policy.value().substr(0, 12));
        for (const auto& reason : decision->reasons) answer.text += "  " + reason + "\n";
    } else {
        answer.text = response.body + "\n";
    }
    return answer;
}

void add_tls_options(CLI::App& command, http::ClientTls& tls) {
    command.add_option("--ca-file", tls.ca,
                       "with https://: PEM file of the authority that signed the service's "
                       "certificate; the default are those that the system trusts");
    auto* certificate =
        command.add_option("--client-certificate", tls.certificate,
                           "with https://: PEM file, for a service that asks for a certificate");
    auto* key = command.add_option("--client-key", tls.key,
                                   "with https://: PEM file of that certificate's key, mode 0600");
    certificate->needs(key);
    key->needs(certificate);
}

}  // namespace

void add_decide(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "decide",
         .summary =
             "Send an application to a running service, or show what a model file would decide",
         .example = "rampart decide application.json --model m.rmp",
         .detail = "APPLICATION is a JSON file: {\"application_id\", \"person_id\", "
                   "\"event_time\", \"features\": {…}}."},
        [options](const Context&) -> Result<Answer> {
            if (options->url.empty() == options->model.empty()) {
                return base::make_error(base::Reason::kBadUsage, "give either --url or --model");
            }
            return options->url.empty() ? what_if(*options) : ask_service(*options);
        });
    command.add_option("APPLICATION", options->application, "JSON file with the application")
        ->required();
    command.add_option("--model", options->model,
                       "model file: show its decision without logging it; give --model or --url");
    command.add_option("--draw-key", options->draw_key,
                       "with --model: <store>/keys/draw of a service, to show what it would draw");
    command.add_option("--product", options->cool_off.product,
                       "with --draw-key: name of the product of that service");
    command
        .add_option("--cool-off-days", options->cool_off.days,
                    "with --draw-key: decision.cool_off_days of that service")
        ->check(CLI::Range(1, domain::kMaxCoolOffDays))
        ->capture_default_str();
    command.add_option("--at", options->at,
                       "with --draw-key: time of the decision; the default is the event time");
    command.add_option("--group", options->group, "protected group, for a group-aware model file");
    command.add_option("--url", options->url,
                       "host:port or https://host:port of a running service, which decides and "
                       "logs the decision");
    command.add_option("--token-file", options->token_file,
                       "with --url: <store>/keys/token of that service");
    add_tls_options(command, options->tls);
}

}  // namespace rampart::cli
