#include "rampart/privacy/person_keys.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <thread>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::privacy {
namespace {

namespace fs = std::filesystem;
using domain::PersonId;

const std::string kSecret(32, 's');
const PersonId kAnna("anna@example.org"), kBert("bert@example.org");

/// What a topic does, for nodes of one process.
class Exchange final : public KeyExchange {
  public:
    explicit Exchange(std::vector<KeyRecord>& topic) : topic_(topic) {}
    base::Status publish(std::span<const KeyRecord> records) override {
        if (broken) return base::Error{base::ErrorCode::kUnavailable, "broken", "no broker"};
        topic_.insert(topic_.end(), records.begin(), records.end());
        return base::ok();
    }
    base::Status fetch(PersonKeys& keys) override {
        if (broken) return base::Error{base::ErrorCode::kUnavailable, "broken", "no broker"};
        RAMPART_TRY(const auto cursor, keys.cursor());
        const size_t from = cursor.empty() ? 0 : std::stoul(cursor);
        return keys.learn(std::span(topic_).subspan(from), std::to_string(topic_.size()));
    }
    bool broken = false;

  private:
    std::vector<KeyRecord>& topic_;
};

/// Holds those who publish until it is opened.
class SlowExchange final : public KeyExchange {
  public:
    base::Status publish(std::span<const KeyRecord>) override {
        std::unique_lock lock(mutex_);
        ++published_;
        changed_.notify_all();
        changed_.wait(lock, [&] { return open_; });
        return base::ok();
    }
    base::Status fetch(PersonKeys&) override { return base::ok(); }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void close() {
        const std::lock_guard lock(mutex_);
        open_ = false;
    }
    bool wait_for(int published) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20),
                                 [&] { return published_ >= published; });
    }
    int published() {
        const std::lock_guard lock(mutex_);
        return published_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = true;
    int published_ = 0;
};

class PersonKeysTest : public testing::Test {
  protected:
    ~PersonKeysTest() override { fs::remove_all(base); }
    std::unique_ptr<PersonKeys> open(const std::string& name, KeyExchange* exchange = nullptr) {
        auto keys = PersonKeys::open(base / name, kSecret, exchange);
        EXPECT_TRUE(keys) << keys.error().message;
        return std::move(*keys);
    }
    static std::string seal(PersonKeys& keys, const PersonId& person, std::string_view name,
                            std::string_view content) {
        const Letter letter{person, name, content};
        return keys.seal(std::span(&letter, 1)).value().front();
    }
    /// Whether the bytes are in any file below the folder.
    static bool on_disk(const fs::path& folder, std::string_view bytes) {
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (!entry.is_regular_file()) continue;
            const auto content = base::read_file(entry.path(), size_t{1} << 30);
            if (content && content->find(bytes) != std::string::npos) return true;
        }
        return false;
    }
    fs::path base = fs::path(testing::TempDir()) /
                    (std::string("person_keys_") + std::to_string(::getpid()) +
                     testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(PersonKeysTest, SealingWithKnownKeysWaitsForNoNewOnes) {
    SlowExchange exchange;
    auto keys = open("a", &exchange);
    const std::vector<PersonId> known{PersonId("ann"), PersonId("bob"), PersonId("ann")};
    ASSERT_TRUE(keys->prepare(known));
    EXPECT_EQ(exchange.published(), 1) << "all of them with one write";
    ASSERT_TRUE(keys->prepare(known));
    const auto before = seal(*keys, PersonId("ann"), "d1", "content");
    EXPECT_EQ(exchange.published(), 1) << "the key is there";

    exchange.close();
    std::thread newcomer([&] { EXPECT_TRUE(keys->prepare(std::vector{PersonId("new")})); });
    ASSERT_TRUE(exchange.wait_for(2));
    // would wait without end
    const auto envelope = seal(*keys, PersonId("bob"), "d2", "content");
    EXPECT_EQ(keys->unseal("d2", envelope).value(), "content");
    exchange.open();
    newcomer.join();

    keys.reset();
    keys = open("a", &exchange);
    EXPECT_EQ(keys->unseal("d1", before).value(), "content") << "prepared keys are durable";
    ASSERT_EQ(keys->destroy(PersonId("ann")).value(), 1u);
    ASSERT_TRUE(keys->prepare(known));
    EXPECT_EQ(exchange.published(), 4) << "destroyed, then a new key";
    EXPECT_EQ(keys->unseal("d1", before).value(), std::nullopt);
}

TEST_F(PersonKeysTest, WhatIsSealedIsOpenedUnderItsNameAlsoAfterReopening) {
    auto keys = open("a");
    const auto envelope = seal(*keys, kAnna, "d-1", "content");
    EXPECT_TRUE(PersonKeys::is_envelope(envelope));
    EXPECT_EQ(envelope.size(), kEnvelopeOverheadBytes + 7);
    EXPECT_EQ(envelope.find("content"), std::string::npos);
    EXPECT_EQ(keys->unseal("d-1", envelope).value(), "content");
    EXPECT_EQ(keys->unseal("d-2", envelope).error().reason, "not_authentic");
    EXPECT_EQ(keys->unseal("d-1", "\x01short").error().reason, "bad_envelope");
    EXPECT_EQ(keys->unseal("d-1", "\x0a_protobuf").error().reason, "bad_envelope");
    keys.reset();
    keys = open("a");
    EXPECT_EQ(keys->unseal("d-1", envelope).value(), "content");
}

TEST_F(PersonKeysTest, OnePersonHasOneKeyAndTwoHaveTwo) {
    auto keys = open("a");
    const std::vector<Letter> letters{{kAnna, "1", "x"}, {kBert, "2", "y"}, {kAnna, "3", "z"}};
    const auto envelopes = keys->seal(letters).value();
    const auto id = [&](size_t i) { return envelopes[i].substr(1, kKeyIdBytes); };
    EXPECT_EQ(id(0), id(2));
    EXPECT_NE(id(0), id(1));
    EXPECT_EQ(seal(*keys, kAnna, "4", "w").substr(1, kKeyIdBytes), id(0));
    for (size_t i = 0; i < letters.size(); ++i) {
        EXPECT_EQ(keys->unseal(letters[i].name, envelopes[i]).value(), letters[i].content);
    }
}

TEST_F(PersonKeysTest, ADestroyedKeyErasesWhatItSealedAndNothingElseAndThePersonMayComeBack) {
    auto keys = open("a");
    const auto anna = seal(*keys, kAnna, "d-1", "content"), bert = seal(*keys, kBert, "d-2", "b");
    EXPECT_EQ(keys->destroy(kAnna).value(), 1u);
    EXPECT_EQ(keys->unseal("d-1", anna).value(), std::nullopt);
    EXPECT_EQ(keys->unseal("d-2", bert).value(), "b");
    EXPECT_EQ(keys->destroy(kAnna).value(), 0u);
    const auto again = seal(*keys, kAnna, "d-3", "new");
    EXPECT_NE(again.substr(1, kKeyIdBytes), anna.substr(1, kKeyIdBytes));
    EXPECT_EQ(keys->unseal("d-3", again).value(), "new");
    keys.reset();
    keys = open("a");
    EXPECT_EQ(keys->unseal("d-1", anna).value(), std::nullopt);
}

TEST_F(PersonKeysTest, NoFileHoldsThePersonNorAfterwardsTheTag) {
    auto keys = open("a");
    seal(*keys, kAnna, "d-1", "content");
    seal(*keys, kBert, "d-2", "content");
    const auto tag = keys->tag_of(kAnna);
    EXPECT_FALSE(on_disk(base, kAnna.value()));
    EXPECT_TRUE(on_disk(base, tag.value()));
    ASSERT_TRUE(keys->destroy(kAnna));
    EXPECT_FALSE(on_disk(base, tag.value()));
    EXPECT_TRUE(on_disk(base, keys->tag_of(kBert).value()));
}

TEST_F(PersonKeysTest, WhatACrashLeftInTheFilesGoesWithTheNextCall) {
    auto keys = open("a");
    seal(*keys, kAnna, "d-1", "content");
    const auto tag = keys->tag_of(kAnna);
    keys.reset();
    {  // as it stands before the files are written anew
        auto db = storage::Database::open(base / "a", {"meta", "keys", "people"});
        ASSERT_TRUE(db);
        constexpr storage::ColumnFamily kMeta{0}, kKeys{1}, kPeople{2};
        storage::WriteBatch batch;
        batch.put(kKeys, (*db)->get(kPeople, tag.value()).value().value(), "\2");
        batch.erase(kPeople, tag.value());
        batch.put(kMeta, "destroying", "");
        ASSERT_TRUE((*db)->write(batch, storage::Sync::kAlways));
    }
    keys = open("a");
    EXPECT_TRUE(on_disk(base, tag.value()));
    EXPECT_EQ(keys->destroy(kAnna).value(), 0u);
    EXPECT_FALSE(on_disk(base, tag.value()));
}

TEST_F(PersonKeysTest, AKeyThatIsNotHereIsNotTakenForDestroyed) {
    auto here = open("a"), there = open("b");
    const auto envelope = seal(*there, kAnna, "d-1", "content");
    const auto opened = here->unseal("d-1", envelope);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, base::ErrorCode::kUnavailable);
    EXPECT_EQ(opened.error().reason, "unknown_person_key");
}

TEST_F(PersonKeysTest, NodesThatExchangeKeysOpenEachOthersEnvelopesAndForgetTogether) {
    std::vector<KeyRecord> topic;
    Exchange a_exchange(topic), b_exchange(topic);
    auto a = open("a", &a_exchange), b = open("b", &b_exchange);
    const auto from_a = seal(*a, kAnna, "d-1", "one");
    // both make a key for the same person before they hear of each other
    const auto from_b = seal(*b, kAnna, "d-2", "two");
    EXPECT_NE(from_a.substr(1, kKeyIdBytes), from_b.substr(1, kKeyIdBytes));
    EXPECT_EQ(b->unseal("d-1", from_a).value(), "one");
    EXPECT_EQ(a->unseal("d-2", from_b).value(), "two");
    EXPECT_EQ(a->destroy(kAnna).value(), 2u);
    EXPECT_EQ(a->unseal("d-2", from_b).value(), std::nullopt);
    ASSERT_TRUE(b_exchange.fetch(*b));
    EXPECT_EQ(b->unseal("d-1", from_a).value(), std::nullopt);
    EXPECT_EQ(b->unseal("d-2", from_b).value(), std::nullopt);
    // one that begins later learns what is destroyed, not what it was
    auto c = open("c", &a_exchange);
    EXPECT_EQ(c->unseal("d-1", from_a).value(), std::nullopt);
    EXPECT_EQ(c->destroy(kAnna).value(), 0u);
    for (const auto& record : topic) {
        EXPECT_EQ(record.wrapped.find(a->tag_of(kAnna).value()), std::string::npos);
    }
}

TEST_F(PersonKeysTest, AKeyThatCannotBePublishedIsNotUsed) {
    std::vector<KeyRecord> topic;
    Exchange exchange(topic);
    auto keys = open("a", &exchange);
    exchange.broken = true;
    const Letter letter{kAnna, "d-1", "content"};
    EXPECT_EQ(keys->seal(std::span(&letter, 1)).error().reason, "broken");
    exchange.broken = false;
    EXPECT_TRUE(keys->seal(std::span(&letter, 1)));
    EXPECT_EQ(topic.size(), 1u);
}

TEST_F(PersonKeysTest, WhatWasLearntTwiceOrInAnyOrderIsTheSame) {
    std::vector<KeyRecord> topic;
    Exchange exchange(topic);
    auto a = open("a", &exchange);
    const auto envelope = seal(*a, kAnna, "d-1", "content");
    ASSERT_TRUE(a->destroy(kAnna));
    ASSERT_EQ(topic.size(), 2u);
    auto b = open("b");
    const std::vector<KeyRecord> backwards{topic[1], topic[0], topic[1], topic[0]};
    ASSERT_TRUE(b->learn(backwards, "x"));
    EXPECT_EQ(b->cursor().value(), "x");
    EXPECT_EQ(b->unseal("d-1", envelope).value(), std::nullopt);
    EXPECT_EQ(b->destroy(kAnna).value(), 0u);
    EXPECT_EQ(b->learn(std::vector<KeyRecord>{{"short", ""}}, "x").error().reason,
              "bad_person_key");
}

TEST_F(PersonKeysTest, AnotherSecretIsRefusedAndSoIsAShortOne) {
    seal(*open("a"), kAnna, "d-1", "content");
    EXPECT_EQ(PersonKeys::open(base / "a", std::string(32, 'x')).error().reason, "other_secret");
    EXPECT_EQ(PersonKeys::open(base / "a", std::string(31, 's')).error().reason, "bad_secret");
    std::vector<KeyRecord> topic;
    Exchange exchange(topic);
    seal(*open("b", &exchange), kAnna, "d-1", "content");
    auto other = std::move(*PersonKeys::open(base / "c", std::string(32, 'x')));
    EXPECT_EQ(other->learn(topic, "").error().reason, "bad_person_key");
}

TEST_F(PersonKeysTest, WhoReadsOnlyOpensEnvelopesWhileTheFolderIsInUseAndChangesNothing) {
    auto keys = open("a");
    const auto anna = seal(*keys, kAnna, "d-1", "content"), bert = seal(*keys, kBert, "d-2", "b");
    ASSERT_TRUE(keys->destroy(kBert));
    const auto secret = std::string(32, 's');
    auto looking = std::move(*PersonKeys::open_read_only(base / "a", secret));
    EXPECT_EQ(looking->unseal("d-1", anna).value(), "content");
    EXPECT_EQ(looking->unseal("d-2", bert).value(), std::nullopt);
    const Letter letter{kBert, "d-3", "content"};
    EXPECT_FALSE(looking->seal(std::span(&letter, 1)));
    EXPECT_EQ(PersonKeys::open_read_only(base / "nowhere", secret).error().reason, "no_database");
    EXPECT_EQ(PersonKeys::open_read_only(base / "a", std::string(32, 'x')).error().reason,
              "other_secret");
}

TEST_F(PersonKeysTest, MoreKeysThanAreRememberedAreStillFoundAndDestroyed) {
    auto keys = open("a");
    constexpr size_t kPeople = 9000;  // more than KeyCache::kSize
    std::vector<domain::PersonId> people;
    for (size_t i = 0; i < kPeople; ++i) people.emplace_back("p-" + std::to_string(i));
    std::vector<Letter> letters;
    for (const auto& person : people) letters.push_back({person, "d", "content"});
    const auto envelopes = keys->seal(letters).value();
    for (const size_t i : {size_t{0}, size_t{1}, kPeople - 1}) {
        EXPECT_EQ(keys->unseal("d", envelopes[i]).value(), "content");
        EXPECT_EQ(seal(*keys, people[i], "d", "again").substr(1, kKeyIdBytes),
                  envelopes[i].substr(1, kKeyIdBytes));
    }
    for (const size_t i : {size_t{0}, kPeople - 1}) {
        EXPECT_EQ(keys->destroy(people[i]).value(), 1u);
        EXPECT_EQ(keys->unseal("d", envelopes[i]).value(), std::nullopt);
    }
    EXPECT_EQ(keys->unseal("d", envelopes[1]).value(), "content");
}

TEST_F(PersonKeysTest, WhoHearsOfAKeysEndHasNoByteOfItAfterwards) {
    std::vector<KeyRecord> topic;
    Exchange a_exchange(topic), b_exchange(topic);
    auto a = open("a", &a_exchange), b = open("b", &b_exchange);
    const auto envelope = seal(*a, kAnna, "d-1", "content");
    ASSERT_TRUE(b->refresh());
    EXPECT_EQ(b->unseal("d-1", envelope).value(), "content");
    const auto tag = b->tag_of(kAnna).value(), wrapped = topic.at(0).wrapped;
    EXPECT_TRUE(on_disk(base / "b", tag));
    EXPECT_TRUE(on_disk(base / "b", wrapped));
    ASSERT_TRUE(a->destroy(kAnna));
    ASSERT_TRUE(b->refresh());
    EXPECT_EQ(b->unseal("d-1", envelope).value(), std::nullopt);
    EXPECT_FALSE(on_disk(base / "b", tag));
    EXPECT_FALSE(on_disk(base / "b", wrapped));
}

TEST_F(PersonKeysTest, ManyThreadsMakeOneKeyForAPerson) {
    auto keys = open("a");
    std::vector<std::string> envelopes(8);
    {
        std::vector<std::jthread> threads;
        for (auto& envelope : envelopes) {
            threads.emplace_back([&] { envelope = seal(*keys, kAnna, "d", "content"); });
        }
    }
    for (const auto& envelope : envelopes) {
        EXPECT_EQ(envelope.substr(1, kKeyIdBytes), envelopes[0].substr(1, kKeyIdBytes));
    }
}

}  // namespace
}  // namespace rampart::privacy
