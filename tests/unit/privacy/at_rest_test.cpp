#include "rampart/privacy/at_rest.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "rampart/base/digest.hpp"
#include "rampart/privacy/person_keys.hpp"
#include "rampart/privacy/register.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::privacy {
namespace {

namespace fs = std::filesystem;
using domain::PersonId;

const std::string kSecret(32, 's');

class AtRest : public testing::Test {
  protected:
    ~AtRest() override { fs::remove_all(folder_); }
    /// Sets or erases a key of a family, and returns the value before.
    std::optional<std::string> change(uint32_t family, const std::string& name,
                                      const std::optional<std::string>& value) {
        const storage::ColumnFamily column{family};
        const auto db = storage::Database::open(folder_, {"meta", "keys", "people"}).value();
        auto before = db->get(column, name).value();
        storage::WriteBatch batch;
        value ? batch.put(column, name, *value) : batch.erase(column, name);
        EXPECT_TRUE(db->write(batch, storage::Sync::kAlways));
        return before;
    }
    std::vector<std::string> problems() const {
        return check_keys_at_rest(folder_, kSecret).value();
    }
    const fs::path folder_ = fs::path(testing::TempDir()) / fmt::format("rest.{}", ::getpid());
};

TEST_F(AtRest, AKeyThatNoErasureWouldReachIsFoundAndALinkToNone) {
    std::string id, link;
    {
        const auto keys = PersonKeys::open(folder_, kSecret).value();
        for (const char* person : {"anna", "carl", "bert"}) {
            const Letter letter{PersonId(person), "name", "content"};
            id = keys->seal(std::span(&letter, 1)).value().front().substr(1, kKeyIdBytes);
        }
        EXPECT_EQ(keys->destroy(PersonId("carl")).value(), 1u);
        link = keys->tag_of(PersonId("bert")).value();
        EXPECT_TRUE(problems().empty()) << "also while it is open";
    }
    const auto hex = base::to_hex(id);
    const auto linked = change(2, link, std::nullopt);
    EXPECT_EQ(problems(),
              std::vector<std::string>{"key " + hex +
                                       " opens what it sealed, and is linked to no person any "
                                       "more"});
    change(2, link, linked);
    const auto key = change(1, id, std::string(1, 2)).value();
    EXPECT_EQ(problems(), std::vector<std::string>{"a person is linked to key " + hex +
                                                   ", which is destroyed"});
    change(1, id, std::nullopt);
    EXPECT_EQ(problems(), std::vector<std::string>{"a person is linked to key " + hex +
                                                   ", which is not there"});
    change(1, id, key.substr(0, key.size() - 1));
    ASSERT_EQ(problems().size(), 1u);
    EXPECT_NE(problems().front().find("damaged"), std::string::npos);
    change(1, id, key);
    EXPECT_TRUE(problems().empty());
    EXPECT_EQ(check_keys_at_rest(folder_, std::string(32, 't'))->size(), 2u) << "another secret";
}

TEST_F(AtRest, ARegisterSaysWhatWasBegunAndHowTheLogIs) {
    const PersonTag anna(std::string(kPersonTagBytes, 'a')),
        bert(std::string(kPersonTagBytes, 'b'));
    {
        const auto list = Register::open(folder_).value();
        EXPECT_FALSE(read_register(folder_)->sealed_log) << "nothing is known";
        ASSERT_TRUE(list->note_sealed_log());
        ASSERT_TRUE(list->begin({anna, {}, {{.id = "d-1"}, {.id = "d-2"}}}));
        ASSERT_TRUE(list->begin({bert, {}, {{.id = "d-3"}}, {{{.records = 1}}}}));
    }
    const auto found = read_register(folder_).value();
    EXPECT_EQ(found.begun, (std::vector<BegunErasure>{{anna, {"d-1", "d-2"}}, {bert, {"d-3"}}}));
    EXPECT_TRUE(found.sealed_log);
    {
        const auto list = Register::open(folder_).value();
        ASSERT_TRUE(list->note_clear_log());
        ASSERT_TRUE(list->finish(anna));
    }
    EXPECT_FALSE(read_register(folder_)->sealed_log);
    EXPECT_EQ(read_register(folder_)->begun.size(), 1u);
    EXPECT_FALSE(read_register(folder_ / "nowhere"));
}

}  // namespace
}  // namespace rampart::privacy
