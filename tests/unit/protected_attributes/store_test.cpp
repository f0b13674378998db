#include "rampart/protected_attributes/store.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "rampart/base/file.hpp"

namespace rampart::protected_attributes {
namespace {

namespace fs = std::filesystem;

fs::path fresh_folder() {
    static int counter = 0;
    const fs::path path =
        fs::path(testing::TempDir()) / fmt::format("protected_store_{}_{}", ::getpid(), counter++);
    fs::remove_all(path);
    return path;
}

std::unique_ptr<ProtectedStore> open(const fs::path& folder) {
    auto catalog =
        AttributeCatalog::create({{"sex", {"female", "male"}}, {"age", {"young", "old"}}}, true);
    auto store = ProtectedStore::open(folder, *catalog);
    EXPECT_TRUE(store) << store.error().message;
    return std::move(*store);
}

ProtectedAttributes person(std::string id, int64_t time,
                           std::map<std::string, std::string> attributes) {
    return {domain::PersonId(std::move(id)), base::TimePoint::from_micros(time),
            std::move(attributes)};
}

const domain::PersonId kAnn("ann");

base::TimePoint at(int64_t micros) { return base::TimePoint::from_micros(micros); }
const auto kAt = at(1000);

TEST(ProtectedStore, KeepsPeopleAcrossReopening) {
    const auto folder = fresh_folder();
    const auto ann = person("ann", 1, {{"sex", "female"}, {"age", "old"}});
    {
        const auto store = open(folder);
        ASSERT_TRUE(store->put(std::span(&ann, 1), kAt));
    }
    const auto store = open(folder);
    EXPECT_EQ(store->get(kAnn).value(), ann);
    EXPECT_EQ(store->membership(kAnn).value(), (Membership{1u, {0, 3, 5}}));
}

TEST(ProtectedStore, OfAnUnknownPersonNothingIsKnown) {
    const auto store = open(fresh_folder());
    EXPECT_EQ(store->get(kAnn).value(), std::nullopt);
    EXPECT_EQ(store->membership(kAnn).value(), Membership());
}

TEST(ProtectedStore, TheLatestEventTimeWinsWhateverTheOrderAndGrouping) {
    std::vector<ProtectedAttributes> records{
        person("ann", 2, {{"age", "young"}}), person("ann", 1, {}),
        person("ann", 3, {{"age", "old"}}), person("ann", 3, {{"age", "young"}})};
    std::vector<size_t> order{0, 1, 2, 3};
    std::optional<ProtectedAttributes> expected;
    do {
        const auto together = open(fresh_folder()), single = open(fresh_folder());
        std::vector<ProtectedAttributes> permuted;
        for (const size_t i : order) permuted.push_back(records[i]);
        ASSERT_TRUE(together->put(permuted, kAt));
        for (const auto& one : permuted) ASSERT_TRUE(single->put(std::span(&one, 1), kAt));
        const auto winner = together->get(kAnn).value();
        EXPECT_EQ(winner, single->get(kAnn).value());
        EXPECT_EQ(winner->event_time.micros(), 3);
        if (!expected) expected = winner;
        EXPECT_EQ(winner, expected);
    } while (std::next_permutation(order.begin() + 1, order.end()));
}

TEST(ProtectedStore, SaysWhatWasKnownAtATimeWhateverTheRecordsSayOfTheirOwn) {
    const auto folder = fresh_folder();
    const auto first = person("ann", 1, {{"sex", "female"}, {"age", "young"}});
    const auto second = person("ann", 2, {{"sex", "female"}, {"age", "old"}});
    const auto outdated = person("ann", 1, {{"sex", "male"}, {"age", "old"}});
    {
        const auto store = open(folder);
        ASSERT_TRUE(store->put(std::span(&first, 1), at(-50)));
        ASSERT_TRUE(store->put(std::span(&second, 1), at(100)));
        ASSERT_TRUE(store->put(std::span(&outdated, 1), at(200)));
    }
    const auto store = open(folder);
    const auto young = store->catalog().membership(first).value();
    const auto old = store->catalog().membership(second).value();
    EXPECT_EQ(store->membership_at(kAnn, at(-51)).value(), Membership());
    EXPECT_EQ(store->membership_at(kAnn, at(-50)).value(), young);
    EXPECT_EQ(store->membership_at(kAnn, at(99)).value(), young);
    EXPECT_EQ(store->membership_at(kAnn, at(100)).value(), old);
    EXPECT_EQ(store->membership_at(kAnn, at(1000)).value(), old);
    EXPECT_EQ(store->membership_at(domain::PersonId("an"), at(1000)).value(), Membership());
    EXPECT_TRUE(store->check()->empty());
}

TEST(ProtectedStore, AClockThatWasSetBackChangesNothingOfWhatWasKnown) {
    const auto store = open(fresh_folder());
    const auto first = person("ann", 1, {{"sex", "female"}, {"age", "young"}});
    const auto second = person("ann", 2, {{"sex", "female"}, {"age", "old"}});
    ASSERT_TRUE(store->put(std::span(&first, 1), at(100)));
    ASSERT_TRUE(store->put(std::span(&second, 1), at(50)));
    EXPECT_EQ(store->membership_at(kAnn, at(99)).value(), Membership());
    EXPECT_EQ(store->membership_at(kAnn, at(100)).value(), store->membership(kAnn).value());
}

TEST(ProtectedStore, ABatchWithAValueThatIsNotDeclaredIsRefusedWhole) {
    const auto store = open(fresh_folder());
    const std::vector<ProtectedAttributes> batch{person("ann", 1, {{"sex", "female"}}),
                                                 person("bob", 1, {{"sex", "unheard-of"}})};
    const auto status = store->put(batch, kAt);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().reason, "unknown_attribute_value");
    EXPECT_NE(status.error().message.find("bob"), std::string::npos);
    EXPECT_EQ(store->get(kAnn).value(), std::nullopt);
}

TEST(ProtectedStore, ForgetsAPersonAlsoInItsFiles) {
    const auto folder = fresh_folder();
    const auto store = open(folder);
    const std::vector<ProtectedAttributes> people{
        person("anna@example.org", 1, {{"sex", "female"}}),
        person("bert@example.org", 1, {{"sex", "male"}})};
    ASSERT_TRUE(store->put(people, kAt));
    const auto on_disk = [&](std::string_view bytes) {
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            if (!entry.is_regular_file()) continue;
            const auto content = base::read_file(entry.path(), size_t{1} << 30);
            if (content && content->find(bytes) != std::string::npos) return true;
        }
        return false;
    };
    EXPECT_TRUE(on_disk("anna@example.org"));
    const domain::PersonId anna("anna@example.org");
    ASSERT_TRUE(store->erase(anna));
    ASSERT_TRUE(store->erase(anna));
    EXPECT_EQ(store->get(anna).value(), std::nullopt);
    EXPECT_FALSE(on_disk("anna@example.org"));
    EXPECT_TRUE(on_disk("bert@example.org"));
    ASSERT_TRUE(store->put(std::span(people).first(1), kAt));
    EXPECT_TRUE(store->get(anna)->has_value());
}

}  // namespace
}  // namespace rampart::protected_attributes
