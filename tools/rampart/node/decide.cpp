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
#include "rampart/dataset/served_schema.hpp"
#include "rampart/decision/draw.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/http/client.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/json_value.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using base::Result;

struct Options {
    fs::path application, model, schema, token_file;
    fs::path draw_key;
    std::string url, group, at;
    http::ClientTls tls;
    decision::CoolOff cool_off;
};

/// What a user hands over: an application, or a decision as GET /v1/decisions/{id} gives it.
struct Given {
    domain::Application application;
    std::optional<domain::Decision> decision;
};

Result<Given> read_given(const fs::path& file) {
    RAMPART_TRY(const auto text, base::read_file(file, base::limits::kMaxRequestBytes));
    RAMPART_TRY(const auto document, wire::parse_json(text));
    const auto& members = document.members;
    if (std::any_of(members.begin(), members.end(),
                    [](const auto& member) { return member.key == "decision_id"; })) {
        RAMPART_TRY(auto decision, wire::decision_from_json(text));
        auto application = decision.application;
        return Given{std::move(application), std::move(decision)};
    }
    RAMPART_TRY(auto application, wire::application_from_json(text));
    return Given{std::move(application), std::nullopt};
}

/// Returns the draw that a service would take at the time of --at, or else of the application; of a
/// decision, at its own time and in its own window, unless options say otherwise.
Result<double> draw_of(const Options& options, const Given& given) {
    if (std::error_code error; !fs::exists(options.draw_key, error)) {
        return base::make_error(base::Reason::kNoSuchFile,
                                "--draw-key {}: there is no such file; a store has it as keys/draw",
                                options.draw_key.string());
    }
    auto cool_off = options.cool_off;
    const auto& made = given.decision;
    const bool by_id = cool_off.product.empty() && made && !made->draw_window;
    if (cool_off.product.empty() && made && made->draw_window)
        cool_off = {made->draw_window->product, made->draw_window->cool_off_days};
    if (cool_off.product.empty() && !by_id) {
        return base::make_error(base::Reason::kBadUsage,
                                "--draw-key needs --product: draws differ between products");
    }
    base::TimePoint now = made ? made->decided_at : given.application.event_time;
    if (!options.at.empty()) {
        RAMPART_TRY(now, base::parse_iso8601(options.at));
    }
    RAMPART_TRY(auto secret, named_file(runtime::load_secret(options.draw_key)));
    const decision::DrawKey key{{}, std::move(secret)};
    if (by_id) return decision::draw_by_id(key, made->id);
    const auto& person = given.application.person;
    return decision::window_draw(key, person, decision::draw_window(key, person, cool_off, now));
}

/// What the score can be, and, with a key, what is drawn.
base::Status put_scores(const Options& options, const Given& given,
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
    RAMPART_TRY(const double draw, draw_of(options, given));
    const auto id = domain::decision_id_of(given.application.id);
    const double drawn = model::drawn_score(scores, draw);
    const bool approved = draw < output.approve;
    answer.text += fmt::format("\ndecision {}: draw {:.6f}, drawn score {:.6f}, {}\n", id.value(),
                               draw, drawn, approved ? "approve" : "decline");
    out["decision_id"] = id.value();
    out["draw"] = draw;
    out["drawn_score"] = drawn;
    out["action"] = approved ? "approve" : "decline";
    out["propensity"] = approved ? output.approve : 1 - output.approve;
    return base::ok();
}

/// What a policy would say: probabilities, nothing logged; a draw only with the key of one.
Result<Answer> what_if(const Options& options) {
    RAMPART_TRY(const auto given, read_given(options.application));
    const auto& application = given.application;
    RAMPART_TRY(const auto loaded, named_file(model::load_model_file(options.model)));
    const auto& policy = loaded.policy;
    dataset::ServedSchema served;  // without a file: what the policy reads has to be given
    if (!options.schema.empty()) {
        RAMPART_TRY(served, named_file(dataset::read_served_schema(options.schema)));
    }
    RAMPART_TRY(const auto row, decision::encode_row(application, policy.schema(), served));
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
            put_scores(options, given, policy.scores(row, group), output, answer, out));
    }
    if (given.decision && given.decision->policy != loaded.id)
        answer.notes.push_back(fmt::format("the decision was made by policy {}, and this is {}",
                                           given.decision->policy, loaded.id));
    answer.json = json::serialize(out);
    return answer;
}

Result<Answer> ask_service(const Options& options) {
    RAMPART_TRY(auto body, base::read_file(options.application, base::limits::kMaxRequestBytes));
    // a decision is not what the service takes; anything else it may judge itself
    if (const auto made = wire::decision_from_json(body)) body = wire::to_json(made->application);
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
        answer.text = fmt::format(
            "{}  {}  P(approve) {:.4f}  draw {:.4f}  propensity {:.4f}  policy {}\n", decision->id,
            domain::to_string(decision->action), decision->p_approve, decision->draw,
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
                   "\"event_time\", \"features\": {…}}, or with a decision, as GET "
                   "/v1/decisions/{id} gives it: its application is decided again, with --draw-key "
                   "at its time and in its product's window."},
        [options](const Context&) -> Result<Answer> {
            if (options->url.empty() == options->model.empty()) {
                return base::make_error(base::Reason::kBadUsage, "give either --url or --model");
            }
            if (!options->url.empty() && !options->schema.empty())
                return base::make_error(base::Reason::kBadUsage,
                                        "--schema goes with --model: a service has its own");
            return options->url.empty() ? what_if(*options) : ask_service(*options);
        });
    command
        .add_option("APPLICATION", options->application,
                    "JSON file with the application, or with a decision")
        ->required();
    command.add_option("--model", options->model,
                       "model file: show its decision without logging it; give --model or --url");
    command.add_option("--schema", options->schema,
                       "with --model: schema file of the service, by whose defaults and names the "
                       "application is read; the default is to take just what the policy reads");
    command.add_option("--draw-key", options->draw_key,
                       "with --model: <store>/keys/draw of a service, to show what it would draw");
    command.add_option("--product", options->cool_off.product,
                       "with --draw-key: name of the product of that service");
    command
        .add_option("--cool-off-days", options->cool_off.days,
                    "with --draw-key: decision.cool_off_days of that service")
        ->check(CLI::Range(1, domain::kMaxCoolOffDays))
        ->capture_default_str();
    command.add_option(
        "--at", options->at,
        "with --draw-key: time of the decision; the default is that of a decision, or else "
        "the event time");
    command.add_option("--group", options->group, "protected group, for a group-aware model file");
    command.add_option("--url", options->url,
                       "host:port or https://host:port of a running service, which decides and "
                       "logs the decision");
    command.add_option("--token-file", options->token_file,
                       "with --url: <store>/keys/token of that service");
    add_tls_options(command, options->tls);
}

}  // namespace rampart::cli
