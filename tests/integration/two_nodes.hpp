#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "services/rampartd/node.hpp"
#include "support/kafka_broker.hpp"
#include "support/places.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {

namespace fs = std::filesystem;
using domain::Application;
using streaming::PartitionId;

inline const std::string kGroupKey(64, 'b');
inline constexpr int kLeaseMs =
    6000;  // a thread that tends may wait for its turn on a busy machine

/// Keeps leases and indices as the jobs of `rampart serve` do.
class Tending {
  public:
    explicit Tending(Node& node)
        : thread_([this, &node] {
              std::unique_lock lock(mutex_);
              while (!stop_.wait_for(lock, std::chrono::milliseconds(kLeaseMs / 3),
                                     [&] { return stopped_; })) {
                  auto status = node.keep_leases();
                  if (status) status = node.upkeep();
                  EXPECT_TRUE(status) << status.error().message;
              }
          }) {}
    ~Tending() {
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
        }
        stop_.notify_all();
        thread_.join();
    }

  private:
    std::mutex mutex_;
    std::condition_variable stop_;
    bool stopped_ = false;
    std::thread thread_;
};

/// A node that works as `rampart serve` does.
class WorkingNode {
  public:
    explicit WorkingNode(std::unique_ptr<Node> node) : node_(std::move(node)) {
        node_->begin_work();
    }
    ~WorkingNode() {
        node_->begin_stop();
        EXPECT_TRUE(node_->stop_work(base::Duration::seconds(60)).empty());
        EXPECT_TRUE(node_->release());
    }
    Node* operator->() const { return node_.get(); }
    Node& operator*() const { return *node_; }

  private:
    std::unique_ptr<Node> node_;
};

class TwoNodes : public testing::Test {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        folder_ = fs::path(testing::TempDir()) / fmt::format("two_nodes.{}", ::getpid());
        prefix_ = test_support::unique_topic("nodes") + ".";
        loan_stream::StreamOptions options;
        options.name = "simulated";
        options.rows = 300;
        stream_ = loan_stream::load(options).value();
        streaming_kafka::KafkaSettings kafka;
        kafka.bootstrap_servers = test_support::shared_kafka().bootstrap;
        const auto specs = wire::Topics::with_prefix(prefix_).specs(4);
        const auto admin = streaming_kafka::TopicAdmin::open(kafka).value();
        ASSERT_TRUE(admin->create(specs, 1));
    }
    ~TwoNodes() override {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }

    Settings settings(const std::string& name, const std::string& partitions,
                      const std::string& training = "") {
        const auto workspace =
            demo::prepare_workspace(folder_ / name, test_support::source_dir() + "/ops/config",
                                    stream_, 5)
                .value();
        auto text = base::read_file(workspace.config, 1 << 20).value();
        const size_t schedule = text.find("every_months = ");  // no runs: there is too little data
        text.replace(schedule, text.find_first_of(" #\n", schedule + 15) - schedule,
                     "every_months = 120");
        if (!training.empty())
            text.replace(text.find("\n[training]\n"), 12, "\n[training]\n" + training);
        for (const char* shared : {"group.key", "person.key"})
            EXPECT_TRUE(base::write_file_atomically(folder_ / shared, kGroupKey, 0600));
        text += fmt::format(
            "\n[log]\nbroker = \"kafka\"\npartitions = 4\ntopic_prefix = \"{}\"\n{}\n"
            "group_key_files = [\"../group.key\"]\n"
            "[kafka]\nbootstrap_servers = \"{}\"\nnode = \"{}\"\nlease_ms = {}\n"
            "development = true\n"
            "[privacy]\nsecret = \"../person.key\"\n",
            prefix_, partitions, test_support::shared_kafka().bootstrap, name, kLeaseMs);
        EXPECT_TRUE(base::write_file_atomically(workspace.config, text));
        const auto loaded = load_settings(workspace.config);
        EXPECT_TRUE(loaded) << loaded.error().message;
        return loaded.value();
    }
    std::unique_ptr<Node> open(const Settings& settings) {
        auto node = Node::open(settings);
        EXPECT_TRUE(node) << node.error().message;
        return std::move(*node);
    }
    Settings first() { return settings("first", "own = [0, 1]\nfollow = [2, 3]"); }
    Settings second() {
        return settings("second", "own = [2, 3]",
                        "enabled = false\ngate_key = \"../first/store/gate.pub.pem\"\n");
    }
    std::vector<Application> applications() const {
        std::vector<Application> all;
        for (const auto& applicant : stream_.applicants) all.push_back(applicant.application);
        return all;
    }
    static base::Result<domain::Decision> decide(Node& node, const Application& application) {
        const auto decided = node.decisions().decide(std::span(&application, 1));
        if (!decided) return decided.error();
        return decided->front();
    }
    static std::map<PartitionId, base::Digest> hashes(Node& node) {
        std::map<PartitionId, base::Digest> found;
        const auto states = node.joiner().partition_states().value();
        for (const auto& state : states) found[state.partition] = state.hash;
        return found;
    }

    fs::path folder_;
    std::string prefix_;
    loan_stream::Stream stream_;
};

}  // namespace rampart::rampartd
