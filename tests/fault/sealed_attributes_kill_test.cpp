// A process that states protected attributes on a durable log and erases persons is killed again
// and again. What was acknowledged remains, what was erased is nowhere, and nothing is ever in the
// clear in a file of the log.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "rampart/protected_attributes/attribute_feed.hpp"
#include "rampart/sealed_log/sealed_log.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "support/byte_scan.hpp"
#include "support/child.hpp"

namespace rampart::sealed_log {
namespace {

namespace fs = std::filesystem;
using domain::PersonId;
using protected_attributes::AttributeCatalog;
using protected_attributes::AttributeFeed;
using protected_attributes::ProtectedAttributes;
using protected_attributes::ProtectedStore;

const std::string kTopic = "protected-attributes";
const std::string kMarker = "kx7QvW2mZp9RtYb4NcLs8JdH";  // a value of an attribute
constexpr int kKills = 12;

/// How far the children came; every third person is erased after the next was stated.
struct Progress {
    std::atomic<int> stated{0}, erased{0};
};

bool is_erased(int person) { return person % 3 == 0; }
PersonId name_of(int person) { return PersonId(fmt::format("person-{}", person)); }

/// All that a node has of it, in one folder.
struct Stores {
    explicit Stores(const fs::path& folder)
        : log(streaming_local::LocalLog::open(folder / "log").value()),
          keys(privacy::PersonKeys::open(folder / "keys", std::string(32, 's')).value()),
          view(*log, *log, *keys, "decisions", true, kTopic),
          store(ProtectedStore::open(
                    folder / "protected",
                    AttributeCatalog::create({{"origin", {kMarker, "elsewhere"}}}, true).value())
                    .value()),
          feed(view, view, kTopic, *store) {
        if (!log->partitions(kTopic)) {
            EXPECT_TRUE(log->create_topic(kTopic, {}));
        }
    }
    std::unique_ptr<streaming_local::LocalLog> log;
    std::unique_ptr<privacy::PersonKeys> keys;
    SealedLog view;
    std::unique_ptr<ProtectedStore> store;
    AttributeFeed feed;
};

/// States persons from where the children before came to, reads now and then, and erases as
/// data_retention does: first the key, then the topic, then the store.
void work(const fs::path& folder, Progress& progress) {
    const auto now = base::TimePoint::from_micros(1'000'000);
    Stores node(folder);
    for (int person = progress.stated; person < 100'000; ++person) {
        const ProtectedAttributes one{name_of(person), now, {{"origin", kMarker}}};
        if (!node.feed.publish(std::span(&one, 1), now)) ::_exit(1);
        progress.stated = person + 1;
        if (person % 4 == 0 && !node.feed.catch_up(now)) ::_exit(2);
        for (int other = progress.erased; other < person; ++other) {
            if (is_erased(other)) {
                if (!node.keys->destroy(name_of(other))) ::_exit(3);
                if (other % 2 == 0 && !node.feed.publish_erasure(name_of(other), now)) ::_exit(4);
                if (!node.store->erase(name_of(other))) ::_exit(5);
            }
            progress.erased = other + 1;
        }
    }
}

TEST(SealedAttributesKill, NothingIsLostNothingComesBackAndNothingIsInTheClear) {
    const auto folder =
        fs::path(testing::TempDir()) / fmt::format("sealed_attributes_kill.{}", ::getpid());
    fs::create_directories(folder);
    test_support::Shared<Progress> progress;
    for (int kill = 0; kill < kKills; ++kill) {
        const pid_t child = ::fork();
        if (child == 0) {
            work(folder, *progress);
            ::_exit(0);
        }
        const int before = progress->stated;
        while (progress->stated < before + 3) {
            int status = 0;
            ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "it ended with " << status;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(7) * kill);
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
        EXPECT_EQ(test_support::files_with(folder / "log", kMarker), std::vector<std::string>());
    }
    const int stated = progress->stated, erased = progress->erased;
    EXPECT_GE(stated, 3 * kKills);
    EXPECT_GT(erased, 3);
    EXPECT_EQ(test_support::in_child([&] {
                  for (const bool anew : {false, true}) {  // the store as it is, and made again
                      if (anew) fs::remove_all(folder / "protected");
                      Stores node(folder);
                      const auto now = base::TimePoint::from_micros(2'000'000);
                      if (!node.feed.catch_up(now)) ::_exit(1);
                      for (int person = 0; person < stated; ++person) {
                          const bool known = node.store->get(name_of(person)).value().has_value();
                          if (known && is_erased(person) && person < erased) ::_exit(2);
                          if (!known && !is_erased(person)) ::_exit(3);
                      }
                  }
              }),
              0);
    EXPECT_EQ(test_support::files_with(folder / "log", kMarker), std::vector<std::string>());
    fs::remove_all(folder);
}

}  // namespace
}  // namespace rampart::sealed_log
