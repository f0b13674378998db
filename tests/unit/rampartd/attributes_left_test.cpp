#include "services/rampartd/attributes_left.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/base/file.hpp"
#include "rampart/lease/trainer_seat.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "services/rampartd/store_layout.hpp"
#include "support/byte_scan.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using protected_attributes::ProtectedStore;

const std::string kPerson = "kx7QvW2mZp9RtYb4NcLs8JdH";
const auto kNow = base::TimePoint::from_micros(1'000'000);

class AttributesLeft : public testing::Test {
  protected:
    AttributesLeft() { fs::remove_all(store_); }
    ~AttributesLeft() override {
        registry_.reset();
        fs::remove_all(store_);
    }
    void SetUp() override {
        fs::create_directories(store_);
        registry_ = registry::ModelRegistry::open(store_ / "registry").value();
    }
    std::unique_ptr<ProtectedStore> open() const {
        auto catalog =
            protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true);
        return ProtectedStore::open(folder_, *std::move(catalog)).value();
    }
    void state() const {
        const protected_attributes::ProtectedAttributes one{
            domain::PersonId(kPerson), kNow, {{"sex", "female"}}};
        ASSERT_TRUE(open()->put(std::span(&one, 1), kNow));
    }
    std::string remove() const {
        const auto status = remove_attributes_left(store_, *registry_, kNow);
        return status ? "" : status.error().reason;
    }
    size_t audited() const {
        size_t n = 0;
        const auto entries = registry_->audit_entries().value();
        for (const auto& entry : entries) n += entry.action == "protected_attributes_removed";
        return n;
    }

    const fs::path store_ = fs::path(testing::TempDir()) / fmt::format("left.{}", ::getpid());
    const fs::path folder_ = store_ / "protected";
    std::unique_ptr<registry::ModelRegistry> registry_;
};

TEST_F(AttributesLeft, AreDeletedOnceAndOnRecord) {
    EXPECT_EQ(remove(), "") << "there is no such folder";
    state();
    ASSERT_FALSE(test_support::files_with(store_, kPerson).empty());
    EXPECT_EQ(remove(), "");
    EXPECT_FALSE(fs::exists(folder_));
    EXPECT_EQ(audited(), 1u);
    EXPECT_EQ(test_support::files_with(store_, kPerson), std::vector<std::string>());
    EXPECT_TRUE(open()->check()->empty()) << "the node opens a new one";
    EXPECT_EQ(remove(), "");
    EXPECT_TRUE(fs::exists(folder_)) << "an empty one stays";
    EXPECT_EQ(audited(), 1u);
}

TEST_F(AttributesLeft, OfAPersonWhoseLatestRecordWasErasedStay) {
    state();
    ASSERT_TRUE(open()->erase(domain::PersonId(kPerson)));
    EXPECT_EQ(remove(), "");
    EXPECT_EQ(audited(), 0u) << "it is empty";
}

TEST_F(AttributesLeft, AreDeletedAlsoWhereTheFolderIsHalfDeletedOrDamaged) {
    for (const char* lost : {"CURRENT", "MANIFEST", "*"}) {
        state();
        std::vector<fs::path> files;
        for (const auto& file : fs::directory_iterator(folder_)) files.push_back(file.path());
        for (const auto& file : files) {
            if (file.filename().string().starts_with(lost)) fs::remove(file);
            if (std::string_view(lost) == "*") {
                ASSERT_TRUE(base::write_file_atomically(file, "damage"));
            }
        }
        EXPECT_EQ(remove(), "") << lost;
        EXPECT_FALSE(fs::exists(folder_)) << lost;
    }
    EXPECT_EQ(audited(), 3u);
}

TEST_F(AttributesLeft, OfAStoreThatTrainedAreKeptAndTheStartIsRefused) {
    state();
    const lease::Turn turn{3, std::string(16, 's')};
    ASSERT_TRUE(lease::write_seat(seat_of(store_), {turn, std::nullopt, false}));
    EXPECT_EQ(remove(), "attributes_left");
    EXPECT_FALSE(test_support::files_with(folder_, kPerson).empty());
    EXPECT_EQ(audited(), 0u);
    // under a release that had no seats
    fs::remove(seat_of(store_));
    fs::copy(store_ / "registry" / "registry", store_ / "trainer", fs::copy_options::recursive);
    EXPECT_EQ(remove(), "attributes_left");
    // it asked to train, and another did: its folder `trainer` is no ledger of the group
    ASSERT_TRUE(lease::write_seat(seat_of(store_), {std::nullopt, turn, false}));
    EXPECT_EQ(remove(), "");
    // handed over: the store that took over has read the topic
    state();
    ASSERT_TRUE(lease::write_seat(seat_of(store_), {turn, std::nullopt, true}));
    EXPECT_EQ(remove(), "");
    EXPECT_EQ(audited(), 2u);
}

TEST_F(AttributesLeft, AreNotDeletedWithoutASeatThatCanBeRead) {
    state();
    ASSERT_TRUE(base::write_file_atomically(seat_of(store_), "nonsense", 0600));
    EXPECT_EQ(remove(), "bad_seat");
    EXPECT_FALSE(test_support::files_with(folder_, kPerson).empty());
}

}  // namespace
}  // namespace rampart::rampartd
