#include "frame/node_access.hpp"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "frame/named_secret.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/reasons.hpp"
#include "rampart/storage/folder.hpp"
#include "services/rampartd/keys.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;

constexpr auto kLook = std::chrono::milliseconds(500);  // between two looks at a job
constexpr auto kSilence = base::Duration::seconds(45);  // three of a node's signs of life
constexpr auto kAway = std::chrono::seconds(60);        // as long a node may be started anew

Result<std::string> first_line(const std::filesystem::path& file) {
    RAMPART_TRY(auto text, base::read_file(file, 4096));
    text.erase(std::min(text.find('\n'), text.size()));
    return text;
}

/// Returns the file with the token of this command's caller.
Result<std::filesystem::path> token_file_of(const rampartd::Settings& settings) {
    const char* named = std::getenv("RAMPART_TOKEN_FILE");
    if (named != nullptr && *named != '\0') return named_secret(named);
    return rampartd::principal_files(settings.store).token;
}

Result<http::Client> connect(const std::filesystem::path& config,
                             base::Duration timeout = http::ClientOptions{}.timeout) {
    http::ClientOptions options;
    options.timeout = timeout;
    RAMPART_TRY(const auto settings, rampartd::load_settings(config));
    const auto endpoint = first_line(settings.store / "endpoint");
    if (!endpoint) {
        return base::make_error(Reason::kNotServing,
                                "no node serves the store '{}' (it has no file 'endpoint'); start "
                                "'rampart serve --config {}'",
                                settings.store.string(), config.string());
    }
    RAMPART_TRY(const auto token, token_file_of(settings));
    RAMPART_TRY(options.token, first_line(token));
    if (const auto& tls = settings.http.tls) {
        // the node is known by its own certificate, whatever name or authority that has, and takes
        // it from any client that has its key
        options.tls.pinned = tls->certificate;
        if (!tls->client_ca.empty()) {
            options.tls.certificate = tls->certificate;
            options.tls.key = tls->key;
        }
    }
    return http::Client::create(*endpoint, options);
}

base::ErrorCode code_of(std::string_view text) {
    using enum base::ErrorCode;
    for (const auto code :
         {kInvalidArgument, kNotFound, kAlreadyExists, kFailedPrecondition, kOutOfRange,
          kResourceExhausted, kPermissionDenied, kUnavailable, kDataLoss, kInternal})
        if (base::to_string(code) == text) return code;
    return kFailedPrecondition;
}

/// Returns the node's refusal as the error that it was there.
base::Error refusal(const http::Response& response) {
    boost::system::error_code failure;
    const auto document = json::parse(response.body, failure);
    const auto* object = failure ? nullptr : document.if_object();
    if (object == nullptr || !object->contains("reason")) {
        return base::make_error(Reason::kBadAnswer, "the node answered {}: {}", response.status,
                                response.body.substr(0, 200));
    }
    const auto text = [&](const char* name) {
        const auto* value = object->if_contains(name);
        return value != nullptr && value->is_string() ? std::string(value->get_string()) : "";
    };
    return {code_of(text("code")), text("reason"), text("detail")};
}

Result<json::value> parse(Result<http::Response> response) {
    if (!response) return response.error();
    if (response->status >= 300) return refusal(*response);
    boost::system::error_code failure;
    auto document = json::parse(response->body, failure);
    if (failure) return base::make_error(Reason::kBadAnswerText, "the node's answer is no JSON");
    return document;
}

/// Says on stderr how far a job is, where that has changed.
class Progress {
  public:
    void show(const json::object& job) {
        const auto line = fmt::format("job {} ({}): {}, {} of {}\n", text_of(job.at("id")),
                                      text_of(job.at("kind")), text_of(job.at("state")),
                                      text_of(job.at("done")), text_of(job.at("total")));
        if (line == last_) return;
        std::fputs(line.c_str(), stderr);
        last_ = line;
    }

  private:
    std::string last_;
};

/// Asks for a job once; the node may have another address after a restart.
Result<json::value> ask_job(const std::filesystem::path& config, const std::string& id) {
    RAMPART_TRY(auto client, connect(config));
    return parse(client.get("/v1/jobs/" + id));
}

/// Follows a job to its end, also while the node is started anew, for up to kAway.
Result<json::value> follow(const std::filesystem::path& config, json::value accepted) {
    using Clock = std::chrono::steady_clock;
    Progress progress;
    const auto id = text_of(accepted.at("job").at("id"));
    auto answered = Clock::now();
    while (true) {
        const auto& job = accepted.at("job").as_object();
        progress.show(job);
        const auto& error = job.at("error");
        if (!error.is_null())
            return base::Error{code_of(text_of(error.at("code"))), text_of(error.at("reason")),
                               text_of(error.at("message"))};
        if (text_of(job.at("state")) == "done") return job.at("result");
        std::this_thread::sleep_for(kLook);
        auto asked = ask_job(config, id);
        if (asked) {
            accepted = *std::move(asked);
            answered = Clock::now();
        } else if (asked.error().code != base::ErrorCode::kUnavailable ||
                   Clock::now() - answered > kAway) {
            return asked.error().with_context(fmt::format(
                "job {} was accepted and goes on while the node runs; GET /v1/jobs/{} says how far "
                "it is",
                id, id));
        }
    }
}

/// Returns the answer, at once or, where the request became a job, when that has ended.
Result<json::value> answer_of(const std::filesystem::path& config,
                              Result<http::Response> response) {
    const bool accepted = response && response->status == 202;
    auto document = parse(std::move(response));
    if (!document || !accepted) return document;
    return follow(config, *std::move(document));
}

}  // namespace

void add_node_options(CLI::App& command, NodeOptions& options) {
    command.add_option("--config", options.config, "rampartd.toml of the running node")->required();
}

void add_change_options(CLI::App& command, NodeOptions& options) {
    add_node_options(command, options);
    command.add_option("--reason", options.reason, "reason, for the audit log")->required();
}

void add_actor_option(CLI::App& command, std::string& actor) {
    command
        .add_option(
            "--actor", actor,
            "who does this, for the audit log; a node that is served takes the principal of "
            "the token")
        ->capture_default_str();
}

std::string text_of(const json::value& value) {
    if (value.is_null()) return "-";
    return value.is_string() ? std::string(value.get_string()) : json::serialize(value);
}

std::string query_value(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
        out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

Result<json::value> ask_node(const std::filesystem::path& config, std::string_view target) {
    RAMPART_TRY(auto client, connect(config));
    return parse(client.get(target));
}

base::Status follow_node(const std::filesystem::path& config, std::string_view target,
                         const std::string& last_event,
                         const std::function<bool(std::string_view bytes)>& on_bytes) {
    RAMPART_TRY(auto client, connect(config, kSilence));
    std::vector<http::Header> headers;
    if (!last_event.empty()) headers.push_back({"Last-Event-ID", last_event});
    RAMPART_TRY(const auto response, client.follow(target, headers, on_bytes));
    if (response.status == 200) return base::ok();
    return refusal(response);
}

Result<json::value> tell_node(const std::filesystem::path& config, std::string_view target,
                              const json::object& body) {
    RAMPART_TRY(auto client, connect(config));
    return answer_of(config, client.post(target, json::serialize(body)));
}

Result<json::value> remove_at_node(const std::filesystem::path& config, std::string_view target) {
    RAMPART_TRY(auto client, connect(config));
    return parse(client.remove(target));
}

Result<json::value> send_to_node(const std::filesystem::path& config, std::string_view target,
                                 std::string bytes) {
    RAMPART_TRY(auto client, connect(config));
    if (bytes.size() > base::limits::kMaxRequestBytes) {
        return base::make_error(http::Reason::kBodyTooLarge,
                                "{} bytes; a node that is being served takes {}: stop it, and give "
                                "the command again",
                                bytes.size(), base::limits::kMaxRequestBytes);
    }
    return answer_of(config, client.post(target, std::move(bytes), "application/octet-stream"));
}

base::Status check_exists(const rampartd::Settings& settings) {
    if (storage::is_database(settings.store / "registry" / "registry")) return base::ok();
    return base::make_error(Reason::kNoStore,
                            "there is no store at '{}'; 'rampart serve' makes one",
                            settings.store.string());
}

base::Status check_new(std::string_view option, const std::filesystem::path& file) {
    std::error_code failure;  // where it cannot be looked at, writing says why
    if (!std::filesystem::exists(std::filesystem::symlink_status(file, failure))) return base::ok();
    return base::make_error(Reason::kMisuse, "{} {}: there is such a file already", option,
                            file.string());
}

base::Result<std::unique_ptr<rampartd::Node>> open_existing(const std::filesystem::path& config) {
    RAMPART_TRY(auto settings, rampartd::load_settings(config));
    RAMPART_RETURN_IF_ERROR(check_exists(settings));
    settings.declares = false;  // the service alone does
    return rampartd::Node::open(std::move(settings));
}

}  // namespace rampart::cli
