// Many clients of single decisions at a time, with the server's default settings.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "decision_service_fixture.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/wire/application_json.hpp"

namespace rampart::decision_service::tests {
namespace {

constexpr int kClients = 8;
constexpr int kRounds = 20;

/// Counts requests in, holds the first append of a round until all of the round's are in, and notes
/// how many decisions each append has.
class Rounds final : public streaming::Writer {
  public:
    explicit Rounds(streaming::Writer& writer) : writer_(writer) {}

    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        {
            std::unique_lock lock(mutex_);
            const bool all_in = changed_.wait_for(lock, std::chrono::seconds(20),
                                                  [&] { return entered_ % kClients == 0; });
            EXPECT_TRUE(all_in) << entered_ << " requests are in, and wait for the first commit";
            largest_ = std::max(largest_, records.size());
        }
        return writer_.append(topic, records);
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override {
        return writer_.append_to(topic, partition, records);
    }
    void enter() {
        const std::lock_guard lock(mutex_);
        ++entered_;
        changed_.notify_all();
    }
    size_t largest() {
        const std::lock_guard lock(mutex_);
        return largest_;
    }

  private:
    streaming::Writer& writer_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int entered_ = 0;
    size_t largest_ = 0;
};

TEST_F(DecisionServiceTest, SingleDecisionsOfManyClientsShareAWriteWithTheDefaultSettings) {
    service_.reset();
    Rounds rounds(*log_);
    health_ = std::make_unique<runtime::Health>();
    service_ =
        DecisionService::open(options_, {*log_, rounds, clock_, metrics_, *health_}).value();
    set_policy(constant(0.5));
    http::Router router("token");
    service_->add_routes(router);
    const auto server = http::Server::start({}, [&](const http::Request& request) {
                            rounds.enter();
                            return router.handle(request);
                        }).value();
    http::ClientOptions options;
    options.token = "token";
    std::vector<http::Client> clients;
    for (int i = 0; i < kClients; ++i) {
        clients.push_back(http::Client::create(server->endpoint(), options).value());
    }
    for (int round = 0; round < kRounds && !HasFailure(); ++round) {
        std::vector<std::thread> threads;
        for (int i = 0; i < kClients; ++i) {
            threads.emplace_back([&, i] {
                const auto answer = clients[static_cast<size_t>(i)].post(
                    "/v1/decisions", wire::to_json(application(round * kClients + i)));
                EXPECT_TRUE(answer && answer->status == 200);
            });
        }
        for (auto& thread : threads) thread.join();
    }
    EXPECT_GT(rounds.largest(), 1u);
}

}  // namespace
}  // namespace rampart::decision_service::tests
