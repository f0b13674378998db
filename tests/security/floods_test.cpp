// A served node under the floods of slowhttptest (Debian): it goes on answering, and its
// descriptors and its memory stay within bounds.
#include <chrono>
#include <fstream>
#include <future>
#include <map>

#include "security/served_node.hpp"

namespace rampart::security {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMostConnections = 256, kFlood = 700, kSpare = 64;
// Connections a second. An unknown client's makes room once it has waited for 0.1 s; more than
// kMostConnections + kSpare within that time would keep every other out, /healthz too.
constexpr size_t kRate = 500;
constexpr size_t kFilesOfWork = 40;  // databases open files while a node runs
constexpr size_t kMostMegabytes = 100;

class Floods : public test_support::ServedNode {
  protected:
    void SetUp() override {
        if (!is_installed("slowhttptest"))
            GTEST_SKIP() << "there is no slowhttptest; ops/setup installs it";
        ServedNode::SetUp();
        serve(fmt::format("max_connections = {}\n", kMostConnections));
        token_ = workspace_.token;
    }

    size_t files() const {
        const auto folder = fmt::format("/proc/{}/fd", process_->pid());
        return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
    }
    size_t megabytes() const {
        std::ifstream in(fmt::format("/proc/{}/statm", process_->pid()));
        size_t pages = 0, resident = 0;
        in >> pages >> resident;
        return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
    }
    /// What an honest caller gets that comes anew: a status, or 0 where there is no answer.
    int ask(const std::string& target, const std::string& body = {}) const {
        return ask_by(token_, target, body);
    }
    int ask_by(const std::string& token, const std::string& target, const std::string& body) const {
        http::ClientOptions options;
        options.token = token;
        options.timeout = base::Duration::seconds(20);
        auto client = http::Client::create(endpoint(), options).value();
        const auto answer = body.empty() ? client.get(target) : client.post(target, body);
        return answer ? static_cast<int>(answer->status) : 0;
    }

    struct Seen {
        // answers by status; the last: decisions for the caller whose token the flood has
        std::map<int, size_t> health, decisions, of_flooder;
        size_t files = 0, megabytes = 0;  // at most
        std::string output;
    };
    /// Runs a flood of ten seconds; meanwhile asks and looks.
    Seen flood(const std::string& arguments, const std::string& target) const {
        auto running = std::async(std::launch::async, [&] {
            return test_support::run_program(
                fmt::format("slowhttptest -c {} -r {} -l 10 -i 3 -v 1 {} -u http://{}{}", kFlood,
                            kRate, arguments, endpoint(), target));
        });
        Seen seen;
        while (running.wait_for(50ms) == std::future_status::timeout) {
            ++seen.health[ask("/healthz")];
            ++seen.decisions[ask("/v1/decisions", application_)];
            if (token_ != workspace_.token)
                ++seen.of_flooder[ask_by(workspace_.token, "/v1/decisions", application_)];
            seen.files = std::max(seen.files, files());
            seen.megabytes = std::max(seen.megabytes, megabytes());
        }
        seen.output = running.get().output;
        return seen;
    }
    std::string token_;  // the caller that asks while the flood runs has it
    /// The header of a caller that is known, as slowhttptest can be made to send it.
    std::string known() const {
        return fmt::format("-j \"$(printf 'x\\r\\nAuthorization: Bearer {}')\"", workspace_.token);
    }
    /// While connections come of which none has waited for long enough to make room, a decision may
    /// be refused, to be asked for again.
    static void expect_mostly_decided(Seen seen) {
        EXPECT_GT(seen.decisions[200], seen.decisions[503]) << seen.output;
        EXPECT_EQ(seen.decisions.size(), 2u) << "only these two: " << seen.output;
    }
    /// Checks what holds for each flood, and that nothing of it is left.
    void expect_bounded(const Seen& seen, size_t files_before, size_t megabytes_before) const {
        EXPECT_GT(seen.files, files_before + 100) << "this was no flood: " << seen.output;
        EXPECT_LE(seen.files, files_before + kMostConnections + kSpare + kFilesOfWork);
        EXPECT_LE(seen.megabytes, megabytes_before + kMostMegabytes);
        EXPECT_EQ(seen.health.size(), 1u) << seen.output;
        EXPECT_TRUE(seen.health.contains(200));
        const auto deadline = std::chrono::steady_clock::now() + 30s;
        while (files() > files_before + kFilesOfWork && std::chrono::steady_clock::now() < deadline)
            std::this_thread::sleep_for(100ms);
        EXPECT_LE(files(), files_before + kFilesOfWork) << "connections are left";
        EXPECT_EQ(ask("/v1/decisions", application_), 200);
    }
};

TEST_F(Floods, OfSlowHeadersLeaveMostDecisionsAlone) {
    const auto files_before = files(), megabytes_before = megabytes();
    const auto seen = flood("-H", "/v1/status");
    expect_bounded(seen, files_before, megabytes_before);
    expect_mostly_decided(seen);
}

TEST_F(Floods, OfSlowBodiesOfAKnownCallerLeaveTheOthersTheirConnections) {
    token_ = token_of("scoring", "decide");
    const auto files_before = files(), megabytes_before = megabytes();
    const auto seen = flood("-B -s 8192 -t POST -f application/json " + known(), "/v1/decisions");
    expect_bounded(seen, files_before, megabytes_before);
    expect_mostly_decided(seen);
    EXPECT_TRUE(seen.of_flooder.contains(429)) << "the flood has its share and no more";
}

TEST_F(Floods, OfSlowReadersOfAKnownCallerLeaveMostDecisionsAlone) {
    const auto files_before = files(), megabytes_before = megabytes();
    const auto seen = flood("-X -k 3 -w 1 -y 8 -n 5 -z 1 " + known(), "/metrics");
    expect_bounded(seen, files_before, megabytes_before);
    expect_mostly_decided(seen);
}

TEST_F(Floods, OfBodiesWithoutATokenAreRefusedAtOnce) {
    const auto before = files();
    const auto seen = flood("-B -s 8192 -t POST", "/v1/decisions");
    EXPECT_LE(seen.files, before + kMostConnections + kSpare + kFilesOfWork);
    EXPECT_EQ(seen.health.size(), 1u);
    expect_mostly_decided(seen);
}

}  // namespace
}  // namespace rampart::security
