// token create, list, revoke, rotate: who may call a service.
#include <CLI/CLI.hpp>
#include <filesystem>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "rampart/access/principals.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "services/rampartd/keys.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using access::Entry;
using base::Result;

struct Options {
    fs::path config, file, out;
    std::string name, certificate, expires;
    std::vector<std::string> scopes, addresses;
    int days = 365, grace_hours = 0;
    bool no_end = false, no_token = false;
};

/// Returns the file of principals that the options name.
Result<fs::path> file_of(const Options& options) {
    if (!options.file.empty()) return options.file;
    RAMPART_TRY(const auto settings, rampartd::load_settings(options.config));
    const auto file = rampartd::principal_files(settings.store).principals;
    std::error_code failure;
    if (!fs::is_directory(file.parent_path(), failure)) {
        RAMPART_RETURN_IF_ERROR(check_exists(settings));
    }
    return file;
}

/// Writes the token where the options say, or into the answer.
base::Status put_token(const Options& options, const std::string& token, Answer& answer,
                       json::object& out) {
    if (!options.out.empty()) {
        RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options.out, token + "\n", 0600));
        answer.text += fmt::format("token in {}\n", options.out.string());
        out["token_file"] = options.out.string();
        return base::ok();
    }
    answer.text += fmt::format("token {}\n", token);
    answer.notes.push_back("the token is kept nowhere else: store it now");
    out["token"] = token;
    return base::ok();
}

Result<Answer> create(const Options& options) {
    const auto now = runtime::SystemClock().now();
    RAMPART_TRY(const auto scopes, access::Scopes::parse(options.scopes));
    Entry entry{.name = options.name,
                .scopes = scopes,
                .certificate = options.certificate,
                .addresses = options.addresses,
                .created = now};
    if (!options.no_end) entry.expires = now + base::Duration::days(options.days);
    RAMPART_TRY(const auto file, file_of(options));
    Answer answer;
    json::object out{{"principal", entry.name},
                     {"expires", entry.expires ? json::value(base::to_iso8601(*entry.expires))
                                               : json::value(nullptr)}};
    answer.text = fmt::format("principal {}: {}, {}\n", entry.name,
                              fmt::format("{}", fmt::join(scopes.names(), " ")),
                              entry.expires ? "until " + base::to_iso8601(*entry.expires)
                                            : std::string("without an end"));
    if (options.no_token) {
        RAMPART_RETURN_IF_ERROR(access::add_principal(file, entry));
    } else {
        RAMPART_TRY(const auto token, access::create(file, entry));
        RAMPART_RETURN_IF_ERROR(put_token(options, token, answer, out));
    }
    answer.json = json::serialize(out);
    return answer;
}

Result<Answer> rotate(const Options& options) {
    RAMPART_TRY(const auto file, file_of(options));
    RAMPART_TRY(const auto token, access::rotate(file, options.name, runtime::SystemClock().now(),
                                                 base::Duration::hours(options.grace_hours)));
    Answer answer;
    json::object out{{"principal", options.name}};
    answer.text = fmt::format("principal {}: the token before {}\n", options.name,
                              options.grace_hours == 0
                                  ? std::string("has ended")
                                  : fmt::format("ends in {} hours", options.grace_hours));
    RAMPART_RETURN_IF_ERROR(put_token(options, token, answer, out));
    answer.json = json::serialize(out);
    return answer;
}

Result<Answer> revoke(const Options& options) {
    RAMPART_TRY(const auto file, file_of(options));
    RAMPART_RETURN_IF_ERROR(access::revoke(file, options.name));
    Answer answer;
    answer.text = fmt::format("principal {} has ended\n", options.name);
    answer.json = json::serialize(json::object{{"revoked", options.name}});
    return answer;
}

Result<Answer> list(const Options& options) {
    RAMPART_TRY(const auto file, file_of(options));
    RAMPART_TRY(const auto entries, access::read_principals(file));
    const auto now = runtime::SystemClock().now();
    Answer answer;
    json::array out;
    answer.text = fmt::format("{:<20}{:<12}{:<12}{:<9}{:<40}{}\n", "principal", "made", "ends",
                              "state", "scopes", "from");
    for (const auto& entry : entries) {
        const bool over = entry.expires && now >= *entry.expires;
        const auto ends = entry.expires ? base::to_iso8601(*entry.expires) : std::string("-");
        std::vector<std::string> from = entry.addresses;
        if (!entry.certificate.empty()) from.push_back(entry.certificate);
        answer.text += fmt::format("{:<20}{:<12}{:<12}{:<9}{:<40}{}\n", entry.name,
                                   base::to_iso8601(entry.created).substr(0, 10),
                                   ends.substr(0, 10), over ? "expired" : "valid",
                                   fmt::format("{}", fmt::join(entry.scopes.names(), " ")),
                                   from.empty() ? "any" : fmt::format("{}", fmt::join(from, " ")));
        out.push_back({{"name", entry.name},
                       {"scopes", json::value_from(entry.scopes.names())},
                       {"created", base::to_iso8601(entry.created)},
                       {"expires", entry.expires ? json::value(ends) : json::value(nullptr)},
                       {"expired", over},
                       {"addresses", json::value_from(entry.addresses)},
                       {"certificate", entry.certificate}});
    }
    answer.json = json::serialize(json::object{{"principals", std::move(out)}});
    return answer;
}

CLI::App& add(Frame& frame, const CommandSpec& spec, const std::shared_ptr<Options>& options,
              Result<Answer> (*run)(const Options&)) {
    auto& command = frame.add(spec, [options, run](const Context&) { return run(*options); });
    auto* where = command.add_option_group("where");
    where->add_option("--config", options->config, "rampartd.toml of the node");
    where->add_option("--file", options->file,
                      "file of principals, of a decision_service: <store>/principals.toml");
    where->require_option(1);
    return command;
}

}  // namespace

void add_token_create(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command =
        add(frame,
            {.name = "token create",
             .summary = "Make a principal with its scopes and a token",
             .example = "rampart token create underwriting --scope decide --scope read --days 90 "
                        "--config rampartd.toml",
             .detail = "Scopes: decide, report, protect, operate, approve, erase, audit, read, "
                       "grant; schemas/http/openapi.yaml says which one a route needs; approve "
                       "permits nothing yet. The store keeps the token's SHA-256 only. A running "
                       "node takes it within seconds."},
            options, create);
    command.add_option("NAME", options->name, "name, the actor in the audit log")->required();
    command.add_option("--scope", options->scopes, "scope; may be given several times")
        ->required()
        ->allow_extra_args(false);
    auto* days = command.add_option("--days", options->days, "days until the token ends")
                     ->check(CLI::Range(1, 3650))
                     ->capture_default_str();
    command.add_flag("--no-end", options->no_end, "the token does not end")->excludes(days);
    command
        .add_option("--address", options->addresses,
                    "network that may call, 10.0.0.0/8; may be given several times")
        ->allow_extra_args(false);
    auto* certificate =
        command.add_option("--certificate", options->certificate,
                           "name in the client certificate that the caller has to show, as in "
                           "DNS:scoring.example");
    auto* out = command.add_option("--out", options->out, "file for the token, mode 0600");
    command.add_flag("--no-token", options->no_token, "the certificate alone is enough")
        ->needs(certificate)
        ->excludes(out);
}

void add_token_list(Frame& frame) {
    add(frame,
        {.name = "token list",
         .summary = "List the principals of a service, without their tokens",
         .example = "rampart token list --config rampartd.toml"},
        std::make_shared<Options>(), list);
}

void add_token_revoke(Frame& frame) {
    auto options = std::make_shared<Options>();
    add(frame,
        {.name = "token revoke",
         .summary = "End a principal and its token",
         .example = "rampart token revoke underwriting --config rampartd.toml",
         .detail = "A running node refuses it within seconds."},
        options, revoke)
        .add_option("NAME", options->name, "name of the principal")
        ->required();
}

void add_token_rotate(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = add(frame,
                        {.name = "token rotate",
                         .summary = "Give a principal a new token",
                         .example = "rampart token rotate underwriting --grace-hours 24 --config "
                                    "rampartd.toml"},
                        options, rotate);
    command.add_option("NAME", options->name, "name of the principal")->required();
    command
        .add_option("--grace-hours", options->grace_hours,
                    "hours in which the token before is taken as well")
        ->check(CLI::Range(0, 720))
        ->capture_default_str();
    command.add_option("--out", options->out, "file for the token, mode 0600");
}

}  // namespace rampart::cli
