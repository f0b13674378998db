#include "rampart/protected_attributes/persons.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "rampart/protected_attributes/store.hpp"

namespace rampart::protected_attributes {
namespace {

namespace fs = std::filesystem;
using base::TimePoint;

TEST(Persons, AreVisitedByVersionAndThenByLatestRecord) {
    const auto folder = fs::path(testing::TempDir()) / fmt::format("persons.{}", ::getpid());
    const auto at = [](int64_t n) { return TimePoint::from_micros(n); };
    {
        const auto catalog = AttributeCatalog::create({{"sex", {"female", "male"}}}, true).value();
        const auto store = ProtectedStore::open(folder, catalog).value();
        const auto state = [&](const char* person, int64_t time, const char* sex) {
            const ProtectedAttributes one{domain::PersonId(person), at(time), {{"sex", sex}}};
            ASSERT_TRUE(store->put(std::span(&one, 1), at(10 * time)));
        };
        state("anna", 1, "female");
        state("bert", 2, "male");
        state("anna", 3, "male");
        state("carl", 4, "male");
        ASSERT_TRUE(store->erase(domain::PersonId("carl")));
    }
    std::vector<std::pair<std::string, std::optional<TimePoint>>> found;
    ASSERT_TRUE(visit_persons(folder, [&](const auto& person, auto since) {
        found.emplace_back(person.value(), since);
        return base::ok();
    }));
    const decltype(found) expected{{"anna", at(10)},
                                   {"anna", at(30)},
                                   {"bert", at(20)},
                                   {"anna", std::nullopt},
                                   {"bert", std::nullopt}};
    EXPECT_EQ(found, expected);
    EXPECT_FALSE(visit_persons(folder / "nowhere", [](const auto&, auto) { return base::ok(); }));
    fs::remove_all(folder);
}

}  // namespace
}  // namespace rampart::protected_attributes
