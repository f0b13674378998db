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

/// Many at once are what each is by itself: unknown ones, ones with later records, repeated ones,
/// and a few among very many.
TEST(ProtectedStore, ManyMembershipsAreThoseOfEachPersonAtEachTime) {
    const auto store = open(fresh_folder());
    constexpr int kPeople = 5000;
    for (int64_t time = 1; time <= 3; ++time) {
        std::vector<ProtectedAttributes> people;
        for (int i = 0; i < kPeople; ++i) {
            if (i % 7 == 0 || i % 3 < time - 1) continue;
            std::map<std::string, std::string> attributes;
            if ((i + time) % 4 != 0) attributes["sex"] = (i * time) % 2 == 0 ? "female" : "male";
            if (i % 5 != 0) attributes["age"] = (i + time) % 3 == 0 ? "young" : "old";
            people.push_back(
                person(fmt::format("p{}", i), time == 1 ? 0 : time * 1000, attributes));
        }
        ASSERT_TRUE(store->put(people, at(time * 10)));
    }
    for (const int step : {1, 2, 97, 4999}) {
        std::vector<std::string> ids;
        for (int i = kPeople + 20; i >= 0; i -= step) ids.push_back(fmt::format("p{}", i));
        for (const char* id : {"", "a", "p", "p1", "p1", "zz"}) ids.emplace_back(id);
        std::vector<ProtectedStore::PersonAt> asked;
        for (const auto& id : ids)
            for (const int64_t time : {25, 9, 10, 99}) asked.push_back({id, at(time)});
        std::vector<int> answered(asked.size());
        ASSERT_TRUE(store->visit_memberships(
            asked, [&](size_t i, const Membership& now, const Membership& then) {
                ++answered[i];
                const domain::PersonId one{std::string(asked[i].person)};
                ASSERT_EQ(now, store->membership(one).value()) << one.value();
                ASSERT_EQ(then, store->membership_at(one, asked[i].at).value()) << one.value();
            }));
        EXPECT_EQ(answered, std::vector<int>(asked.size(), 1));
    }
    EXPECT_TRUE(store->visit_memberships({}, [](auto, const auto&, const auto&) { FAIL(); }));
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
