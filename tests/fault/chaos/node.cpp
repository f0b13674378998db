#include "fault/chaos/node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "rampart/base/file.hpp"
#include "support/places.hpp"

namespace rampart::chaos {
namespace {

namespace fs = std::filesystem;
using base::Status;

const fs::path kProgram = test_support::bin_dir() + "/rampart";
const fs::path kRoughProgram = test_support::bin_dir() + "/../tests/rough_node";
const fs::path kConfig = test_support::source_dir() + "/ops/config";

void must(const Status& status) {
    if (!status) throw std::runtime_error(status.error().message);
}

/// No model is trained, so that an undisturbed run decides the same: the first run is due after
/// more examples than there are.
std::string config_text(const Group& group, const std::string& node, const Share& share,
                        const fs::path& store) {
    return fmt::format(
        "product = \"product.toml\"\nschema = \"schema.toml\"\nstore = \"{}\"\n"
        "[http]\nport = 0\nthreads = 4\n"
        "[clock]\nmode = \"event\"\n"
        "[event_time]\nmax_age_days = 36500\nmax_ahead_days = 36500\n"
        "[log]\nbroker = \"kafka\"\npartitions = {}\ntopic_prefix = \"{}\"\n"
        "group_key_files = [\"{}\"]\nown = [{}]\nfollow = [{}]\n"
        "[kafka]\nbootstrap_servers = \"{}\"\nnode = \"{}\"\nlease_ms = {}\n"
        "development = true\n"
        "request_timeout_ms = 2000\ndelivery_timeout_ms = 3000\nstall_limit_ms = 1000\n"
        "[audit]\nenabled = true\n"  // so that state hashes are shown
        "[memory]\ndatabases_mib = 64\n"
        "[privacy]\nencrypt_log = false\n"  // what was acknowledged is looked for in the log
        "[training]\nenabled = {}\n{}every_months = 0\nevery_matured = 1000000000\n",
        store.string(), group.partitions, group.topic_prefix,
        (store.parent_path() / "group.key").string(), fmt::join(share.own, ", "),
        fmt::join(share.follow, ", "), group.bootstrap_servers, node, group.lease_ms, share.trains,
        share.trains ? "" : fmt::format("gate_key = \"{}\"\n", (store / "gate.pub.pem").string()));
}

/// By the wall clock, with sealed records and divided roles. Training is frequent and
/// fast; what was decided a month ago has matured, and may be erased.
std::string service_text(const Group& group, const std::string& node, const Share& share,
                         const fs::path& store) {
    const bool trains = share.roles.find("train") != std::string::npos;
    const auto list = [](const char* key, const std::vector<int32_t>& some) {
        return some.empty() ? std::string()
                            : fmt::format("{} = [{}]\n", key, fmt::join(some, ", "));
    };
    return fmt::format(
        "product = \"product.toml\"\nschema = \"schema.toml\"\nstore = \"{}\"\n"
        "roles = [{}]\n"
        "[http]\nport = 0\nthreads = 4\ndrain_seconds = 0\n"
        "[clock]\nmode = \"system\"\nmax_downtime_hours = 2000\n"
        "[event_time]\nmax_age_days = 36500\nmax_ahead_days = 1\n"
        "[log]\nbroker = \"kafka\"\npartitions = {}\ntopic_prefix = \"{}\"\n"
        "group_key_files = [\"{}\"]\n{}{}"
        "[kafka]\nbootstrap_servers = \"{}\"\nnode = \"{}\"\nlease_ms = {}\n"
        "development = true\n"
        "request_timeout_ms = 2000\ndelivery_timeout_ms = 3000\nstall_limit_ms = 1000\n"
        "[audit]\nenabled = true\n"
        "[memory]\ndatabases_mib = 64\n"
        "[privacy]\nsecret = \"{}\"\nretention_months = 1\n"
        "[exploration]\nmode = \"one_sided\"\nepsilon = 0.1\n"
        "[training]\nenabled = {}\n{}",
        store.string(), share.roles, group.partitions, group.topic_prefix,
        (store.parent_path() / "group.key").string(), list("own", share.own),
        list("follow", share.follow), group.bootstrap_servers, node, group.lease_ms,
        (store.parent_path() / "group.key").string(), trains,
        trains ? "every_months = 0\nevery_matured = 400\nmin_examples = 200\n"
                 "learner = \"gbdt\"\ntrees = 20\nthreads = 1\n"
               : fmt::format("gate_key = \"{}\"\n", group.gate_key.string()));
}

/// Returns the port of "host:port".
uint16_t port_of(const std::string& address) {
    return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

}  // namespace

Node::Node(std::string name, const fs::path& folder, Group group, const loan_stream::Stream& stream,
           const fs::path& store)
    : name_(std::move(name)), group_(std::move(group)) {
    auto workspace = demo::prepare_workspace(folder, kConfig, stream, group_.seed, std::nullopt);
    must(workspace.map([](const auto&) {}));
    workspace_ = *workspace;
    must(base::write_file_atomically(workspace_.store.parent_path() / "group.key",
                                     std::string(64, 'a') + "\n", 0600));
    if (!store.empty()) {
        fs::copy(workspace_.store, store, fs::copy_options::recursive);
        must(base::write_file_atomically(store.parent_path() / "group.key",
                                         std::string(64, 'a') + "\n", 0600));
        workspace_.store = store;
        workspace_.endpoint_file = store / "endpoint";
    }
    if (group_.service) prepare_service();
}

/// A product of which decisions mature after a month, and a host of which the faults can be set.
void Node::prepare_service() {
    const auto product = workspace_.folder / "product.toml";
    auto read = base::read_file(product, 1 << 20);
    if (!read) throw std::runtime_error(read.error().message);
    auto text = *std::move(read);
    for (const auto& [before, after] : std::initializer_list<std::pair<std::string, std::string>>{
             {"horizon_months = 6", "horizon_months = 1"}, {"grace_days = 30", "grace_days = 0"}}) {
        const auto at = text.find(before);
        if (at == std::string::npos) throw std::runtime_error("no '" + before + "' in a product");
        text.replace(at, before.size(), after);
    }
    must(base::write_file_atomically(product, text));
    host_ = std::make_unique<rough_host::RoughHost>(workspace_.folder / "host");
    const uint16_t port = port_of(group_.bootstrap_servers);
    way_ = std::make_unique<rough_host::OneWay>(port);
    host_->faults().port_reached = way_->port();
    host_->faults().port_asked = port;
}

void Node::configure(const Share& share) {
    share_ = share;
    must(base::write_file_atomically(
        workspace_.config, group_.service ? service_text(group_, name_, share, workspace_.store)
                                          : config_text(group_, name_, share, workspace_.store)));
}

/// Deletes what is left of partitions that the node no longer has, as people have to: with it the
/// program does not start (ops/runbooks/roles.md).
void Node::remove_left_over() const {
    const auto has = [](const std::vector<int32_t>& partitions, const fs::path& folder) {
        return std::any_of(partitions.begin(), partitions.end(),
                           [&](int32_t p) { return folder.filename() == std::to_string(p); });
    };
    std::vector<fs::path> left;
    std::error_code failure;
    for (const auto& folder : fs::directory_iterator(store() / "partitions", failure)) {
        if (has(share_.own, folder)) continue;
        left.push_back(has(share_.follow, folder) ? folder.path() / "decisions" : folder.path());
    }
    for (const auto& one : left) fs::remove_all(one);
}

void Node::spawn() {
    kill();
    if (!share_.own.empty()) remove_left_over();
    std::vector<std::string> words{kProgram.string(), "serve", "--config",
                                   workspace_.config.string()};
    if (host_) {
        words[0] = kRoughProgram.string();
        words.insert(words.begin(), {"env", host_->variable()});
    }
    process_ = std::make_unique<Process>(words, workspace_.log);
}

bool Node::serves() { return runs() && endpoint(); }

Status Node::start(std::chrono::milliseconds limit) {
    spawn();
    wait_until(limit, [&] { return serves() || !runs(); });
    if (serves()) return base::ok();
    if (runs()) {
        return base::Error{base::ErrorCode::kUnavailable, "slow",
                           fmt::format("node '{}' does not serve after {} ms; its log says:\n{}",
                                       name_, limit.count(), tail_of(workspace_.log))};
    }
    const int code = *process_->ended();
    process_.reset();
    return base::Error{base::ErrorCode::kFailedPrecondition, "ended",
                       fmt::format("node '{}' ended with {}; its log says:\n{}", name_, code,
                                   tail_of(workspace_.log))};
}

Status Node::keep_starting(std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        auto started = start(std::max(left, std::chrono::milliseconds(1)));
        if (started || left.count() <= 0) return started;
        sleep_ms(50);
    }
}

void Node::kill() {
    if (process_) process_->kill();
    process_.reset();
    std::error_code ignored;
    fs::remove(workspace_.endpoint_file, ignored);
}

Status Node::terminate() {
    if (!process_) return base::ok();
    const int code = process_->terminate(std::chrono::seconds(30));
    process_.reset();
    std::error_code ignored;
    fs::remove(workspace_.endpoint_file, ignored);
    if (code == 0) return base::ok();
    return base::Error{base::ErrorCode::kFailedPrecondition, "bad_end",
                       fmt::format("node '{}' ended with {} on SIGTERM; its log says:\n{}", name_,
                                   code, tail_of(workspace_.log))};
}

std::optional<std::string> Node::endpoint() const {
    auto text = base::read_file(workspace_.endpoint_file, 256);
    if (!text) return std::nullopt;
    while (!text->empty() && text->back() == '\n') text->pop_back();
    return text->empty() ? std::nullopt : std::optional(*text);
}

}  // namespace rampart::chaos
