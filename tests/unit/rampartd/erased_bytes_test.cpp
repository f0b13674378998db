#include "services/rampartd/erased_bytes.hpp"

#include <gtest/gtest.h>

#include "rampart/wire/record_codec.hpp"
#include "support/byte_scan.hpp"
#include "support/small_service.hpp"

namespace rampart::rampartd {
namespace {

using support::day;
using support::make_application;

class ErasedElsewhere : public testing::Test {
  protected:
    ErasedElsewhere() { node_.approve_all(); }

    /// Decides an application of the person, and reads that another node has erased it.
    void decide_and_erase(int number, const std::string& person) {
        auto application = make_application(number, day(100));
        application.person = domain::PersonId(person);
        const auto decision = node_.decide(application);
        const auto record = wire::to_record(domain::Erasure{decision.id, day(100)});
        ASSERT_TRUE(log_.append("decisions", {&record, 1}));
        ASSERT_TRUE(node_.service->erase({}, day(100)));
        ASSERT_EQ(node_.service->find(decision.id).error().reason, "erased");
        ASSERT_TRUE(lies_in_files(person)) << "it is hidden, and in the files";
    }
    /// Looks into the folders of all such nodes in the folder of tests: the person is in one only.
    static bool lies_in_files(const std::string& person) {
        size_t found = 0;
        for (const auto& folder : std::filesystem::directory_iterator(testing::TempDir()))
            if (folder.path().filename().string().starts_with("small_service"))
                found += test_support::files_with(folder.path(), person).size();
        return found > 0;
    }

    support::MemoryLog log_;
    support::SmallService node_{log_};
    ErasedBytes bytes_{*node_.service};
};

TEST_F(ErasedElsewhere, IsInNoFileADayLater) {
    decide_and_erase(1, "a-person-that-is-erased");
    ASSERT_TRUE(bytes_.rewrite());
    EXPECT_TRUE(lies_in_files("a-person-that-is-erased")) << "the start itself writes nothing";
    ASSERT_TRUE(bytes_.rewrite());
    EXPECT_FALSE(lies_in_files("a-person-that-is-erased"));
    ASSERT_TRUE(bytes_.rewrite());
    decide_and_erase(2, "another-one-erased-later");
    ASSERT_TRUE(bytes_.rewrite());
    EXPECT_FALSE(lies_in_files("another-one-erased-later"));
}

}  // namespace
}  // namespace rampart::rampartd
