// events: what happens on a running node, a line each, as it happens.
#include "services/rampartd/events.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <chrono>
#include <cstdio>
#include <thread>

#include "frame/commands.hpp"
#include "frame/node_access.hpp"
#include "frame/reasons.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kPause = std::chrono::seconds(1);  // before it connects again

struct Options {
    NodeOptions node;
    std::vector<std::string> kinds;
    std::string since;
    uint64_t count = 0;  // 0: without end
    int64_t patience = 60;
};

struct Event {
    std::string name, id, data;
};

/// Puts events together from the bytes of a stream.
class EventReader {
  public:
    explicit EventReader(std::function<bool(const Event&)> on_event)
        : on_event_(std::move(on_event)) {}

    /// Returns false where an event was the last that is wanted.
    bool read(std::string_view bytes) {
        for (const char c : bytes) {
            if (c != '\n') {
                line_ += c;
            } else if (!take_line()) {
                return false;
            }
        }
        return true;
    }

  private:
    bool take_line() {
        const auto line = std::exchange(line_, {});
        if (line.empty()) {
            const auto event = std::exchange(event_, {});
            if (event.data.empty() && event.id.empty()) return true;
            return on_event_(event);
        }
        const auto colon = line.find(": ");
        if (colon == std::string::npos || colon == 0) return true;
        const auto field = line.substr(0, colon), value = line.substr(colon + 2);
        if (field == "event") event_.name = value;
        if (field == "id") event_.id = value;
        if (field == "data") event_.data += value;
        return true;
    }

    std::function<bool(const Event&)> on_event_;
    std::string line_;
    Event event_;
};

/// Returns an event as a line: its name, and the members of its data.
std::string line_of(const Event& event) {
    boost::system::error_code failure;
    const auto data = json::parse(event.data, failure);
    if (failure || !data.is_object()) return fmt::format("{} {}\n", event.name, event.data);
    std::string line = event.name;
    for (const auto& [name, value] : data.get_object())
        line += fmt::format(" {}={}", std::string(name), text_of(value));
    return line + "\n";
}

/// Follows a node, and prints or collects.
class Follower {
  public:
    Follower(const Options& options, bool collects)
        : options_(options), collects_(collects), last_(options.since) {}

    Result<Answer> run() {
        auto heard = SteadyClock::now();
        while (true) {
            bool said = false;
            EventReader reader([this, &said](const Event& event) {
                said = true;
                return take(event);
            });
            const auto status = follow_node(options_.node.config, target(), last_,
                                            [&](auto bytes) { return reader.read(bytes); });
            if (done()) return answer();
            if (said) heard = SteadyClock::now();
            if (!status && !may_pass(status.error())) return status.error();
            if (SteadyClock::now() - heard >= std::chrono::seconds(options_.patience)) {
                if (!status) return status.error();
                return base::make_error(Reason::kNotServing, "the node ended the stream of events");
            }
            std::fprintf(stderr, "the events ended%s; connecting again\n",
                         status ? "" : fmt::format(": {}", status.error().message).c_str());
            std::this_thread::sleep_for(kPause);
        }
    }

  private:
    static bool may_pass(const base::Error& error) {
        return error.code == base::ErrorCode::kUnavailable ||
               error.code == base::ErrorCode::kResourceExhausted || error.is(Reason::kNotServing);
    }
    bool done() const { return options_.count > 0 && taken_ >= options_.count; }
    std::string target() const {
        std::string target = "/v1/events";
        for (size_t i = 0; i < options_.kinds.size(); ++i)
            target += (i == 0 ? "?kinds=" : ",") + options_.kinds[i];
        return target;
    }
    /// Returns whether more is wanted.
    bool take(const Event& event) {
        if (!event.id.empty()) last_ = event.id;
        if (event.data.empty()) return true;  // a sign of life
        const bool of_stream = event.name == "begin" || event.name == "end" || event.name == "gap";
        if (collects_) {
            boost::system::error_code failure;
            auto data = json::parse(event.data, failure);
            if (!of_stream && !failure)
                events_.push_back(json::object{{"event", event.name}, {"data", std::move(data)}});
        } else {
            std::fputs(line_of(event).c_str(), stdout);
            std::fflush(stdout);
        }
        if (!of_stream) ++taken_;
        return !done();
    }
    Answer answer() {
        Answer answer;
        answer.json = json::serialize(
            json::object{{"events", std::move(events_)},
                         {"last_id", last_.empty() ? json::value(nullptr) : json::value(last_)}});
        return answer;
    }

    const Options& options_;
    const bool collects_;
    std::string last_;
    uint64_t taken_ = 0;
    json::array events_;
};

Result<Answer> follow(const Options& options, bool collects) {
    if (collects && options.count == 0)
        return base::make_error(Reason::kMisuse,
                                "--json gives one document: say with --count after how many events "
                                "it ends");
    return Follower(options, collects).run();
}

}  // namespace

void add_events(Frame& frame) {
    auto options = std::make_shared<Options>();
    auto& command = frame.add(
        {.name = "events",
         .summary = "Follow what happens on a running node, a line for each event",
         .example = "rampart events --kind promotion --kind alarm --config rampartd.toml",
         .detail = "Promotions, proposals, certificates, stops, alarms, runs, changes of health, "
                   "and how many decisions there were; for who has the scope audit also "
                   "each entry of the audit log. No person is named. Where the connection is lost "
                   "it connects again and goes on behind the last entry of the audit log that it "
                   "had; 'gap' says what is not kept. Exit code 4: the node was away for longer "
                   "than --patience."},
        [options](const Context& context) { return follow(*options, context.json); });
    add_node_options(command, options->node);
    std::vector<std::string> kinds;
    for (const auto& [kind, name] : rampartd::kEventKinds) kinds.emplace_back(name);
    command.add_option("--kind", options->kinds, "only events of this kind; may be repeated")
        ->check(CLI::IsMember(kinds));
    command.add_option("--since", options->since,
                       "begin behind this number of the audit log, instead of now");
    command.add_option("--count", options->count, "end after so many events")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1'000'000}));
    command
        .add_option("--patience", options->patience,
                    "seconds in which a node that is away has to come back")
        ->check(CLI::Range(int64_t{0}, int64_t{86'400}))
        ->capture_default_str();
}

}  // namespace rampart::cli
