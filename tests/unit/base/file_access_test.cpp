#include "rampart/base/file_access.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::base {
namespace {

namespace fs = std::filesystem;

struct Entry {
    uint16_t tag, access;
    uint32_t id = UINT32_MAX;
};
constexpr uint16_t kOwner = 0x01, kUser = 0x02, kOwnersGroup = 0x04, kGroup = 0x08, kMask = 0x10,
                   kOthers = 0x20, kRead = 4, kNone = 0;

/// A file of this test's own, gone afterwards.
class FileAccess : public testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(write_file_atomically(file_, "secret", 0600)); }
    void TearDown() override { fs::remove(file_); }

    bool shared(unsigned mode) {
        EXPECT_EQ(::chmod(file_.c_str(), mode), 0);
        return shared();
    }
    bool shared() const {
        struct stat status {};
        EXPECT_EQ(::stat(file_.c_str(), &status), 0);
        return others_have_access(file_, status.st_mode);
    }
    /// Gives the file a list; false: its file system has none.
    bool give(const std::vector<Entry>& entries) {
        const uint32_t version = 2;
        std::string list(reinterpret_cast<const char*>(&version), sizeof(version));
        for (const auto& entry : entries)
            list.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
        return ::setxattr(file_.c_str(), "system.posix_acl_access", list.data(), list.size(), 0) ==
               0;
    }
    unsigned mode() const {
        struct stat status {};
        ::stat(file_.c_str(), &status);
        return status.st_mode & 0777;
    }

    fs::path file_ = fs::path(testing::TempDir()) / ("access" + to_hex(random_bytes(8)));
};

TEST_F(FileAccess, OfOthersIsWhatTheModeSays) {
    for (const unsigned mode : {0600u, 0400u, 0700u}) EXPECT_FALSE(shared(mode)) << mode;
    for (const unsigned mode : {0640u, 0440u, 0604u, 0620u, 0601u, 0610u})
        EXPECT_TRUE(shared(mode)) << mode;
}

TEST_F(FileAccess, OfThisUserByAListIsNoneOfOthers) {
    const uint32_t self = ::geteuid(), other = self + 1;
    const Entry owner{kOwner, kRead}, group{kOwnersGroup, kNone}, mask{kMask, kRead},
        others{kOthers, kNone};
    if (!give({owner, {kUser, kRead, self}, group, mask, others}))
        GTEST_SKIP() << "no access control lists on " << file_;
    EXPECT_EQ(mode(), 0440u) << "as systemd's credentials look";
    EXPECT_FALSE(shared());
    ASSERT_TRUE(give({owner, {kUser, kRead, other}, group, mask, others}));
    EXPECT_TRUE(shared()) << "another user";
    ASSERT_TRUE(give({owner, {kUser, kRead, self}, {kUser, kRead, other}, group, mask, others}));
    EXPECT_TRUE(shared()) << "this user and another one";
    ASSERT_TRUE(give({owner, {kUser, kRead, self}, {kOwnersGroup, kRead}, mask, others}));
    EXPECT_TRUE(shared()) << "the file's group";
    ASSERT_TRUE(give({owner, {kUser, kRead, self}, group, {kGroup, kRead, 7}, mask, others}));
    EXPECT_TRUE(shared()) << "another group";
    ASSERT_TRUE(give({owner, {kUser, kRead, self}, group, mask, {kOthers, kRead}}));
    EXPECT_TRUE(shared()) << "all others";
    std::vector<Entry> many{owner};
    for (uint32_t i = 0; i < 100; ++i) many.push_back({kUser, kNone, other + i});
    many.insert(many.end(), {group, mask, others});
    ASSERT_TRUE(give(many));
    EXPECT_TRUE(shared()) << "a list that is too long to be read";
}

TEST_F(FileAccess, OfAFileThatIsGoneCountsAsShared) {
    EXPECT_TRUE(others_have_access(file_.string() + "-not", 0440));
}

}  // namespace
}  // namespace rampart::base
