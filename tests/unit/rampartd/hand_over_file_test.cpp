#include "services/rampartd/hand_over_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "rampart/base/aead.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;

constexpr base::ScryptCost kCheap{10, 1, 1};
const std::string kWords = "correct horse battery";
const std::vector<std::string> kParts{"registry", "privacy/register"};

HandOver about() {
    return {"00ff",  "loans",      "x.",
            "cards", "old",        {lease::Turn{3, std::string(16, 's')}, std::nullopt, false},
            7,       "abcd",       base::TimePoint::from_micros(5),
            "anna",  "new machine"};
}

class HandOverFile : public testing::Test {
  protected:
    HandOverFile() {
        write("store/registry/models/a.rmp", "model");
        write("store/registry/registry/CURRENT", "");
        write("store/registry/big", big_);
        write("store/privacy/register/1.sst", std::string("\0\n", 2));
        write("store/privacy/keys/2.sst", "not to move");
        write("store/trainer/3.sst", "not a part here");
    }
    ~HandOverFile() override { fs::remove_all(folder_); }

    void write(const std::string& path, const std::string& content) const {
        fs::create_directories((folder_ / path).parent_path());
        ASSERT_TRUE(base::write_file_atomically(folder_ / path, content));
    }
    std::string read(const std::string& path) const {
        return base::read_file(folder_ / path, 1 << 24).value();
    }
    base::Status make(const std::string& words = kWords) const {
        return write_hand_over(folder_ / "file", about(), {key_}, words, folder_ / "store", kParts,
                               kCheap);
    }
    base::Result<ReadHandOver> unpack(const std::vector<std::string>& parts = kParts) const {
        fs::remove_all(folder_ / "out");
        return unpack_hand_over(folder_ / "file", kWords, folder_ / "out", parts);
    }

    const fs::path folder_ =
        fs::path(testing::TempDir()) / fmt::format("hand_over_file_test.{}", ::getpid());
    const std::string big_ = std::string((size_t{5} << 19) + 3, 'b');  // more than two pieces
    const runtime::StoredKey key_{"split", "0123456789abcdef", false, "secret of the split\n"};
};

TEST_F(HandOverFile, HasThePartsOfTheStoreAndItsKeysAndNothingElse) {
    ASSERT_TRUE(make());
    const auto head = read_hand_over(folder_ / "file", kWords);
    ASSERT_TRUE(head) << head.error().message;
    EXPECT_EQ(head->about, about());
    EXPECT_EQ(head->keys, std::vector{key_});
    const auto all = unpack();
    ASSERT_TRUE(all) << all.error().message;
    EXPECT_EQ(all->about, about());
    EXPECT_EQ(all->keys, std::vector{key_});
    EXPECT_EQ(read("out/registry/models/a.rmp"), "model");
    EXPECT_EQ(read("out/registry/registry/CURRENT"), "");
    EXPECT_EQ(read("out/registry/big"), big_);
    EXPECT_EQ(read("out/privacy/register/1.sst"), std::string("\0\n", 2));
    EXPECT_FALSE(fs::exists(folder_ / "out/privacy/keys"));
    EXPECT_FALSE(fs::exists(folder_ / "out/trainer"));
}

TEST_F(HandOverFile, IsItsOwnersAloneAndShowsNothingWithoutThePassphrase) {
    ASSERT_TRUE(make());
    struct stat status {};
    ASSERT_EQ(::stat((folder_ / "file").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    EXPECT_FALSE(fs::exists(folder_ / "file.part"));
    const auto bytes = read("file");
    for (const char* word : {"model", "secret of the split", "anna", "bbbbbbbb"})
        EXPECT_EQ(bytes.find(word), std::string::npos) << word;
    EXPECT_EQ(read_hand_over(folder_ / "file", "wrong horse battery").error().reason,
              "wrong_passphrase");
    EXPECT_EQ(make("short").error().reason, "short_passphrase");
}

TEST_F(HandOverFile, IsReadWholeOrNotAtAll) {
    ASSERT_TRUE(make());
    const auto good = read("file");
    const size_t step = good.size() / 97;
    for (size_t n = 0; n < good.size(); n += step) {
        write("file", good.substr(0, n));
        EXPECT_FALSE(unpack()) << n;
        auto bent = good;
        bent[n] = static_cast<char>(bent[n] ^ 1);
        write("file", bent);
        EXPECT_FALSE(unpack()) << n;
    }
    write("file", good.substr(0, good.size() - 1));
    EXPECT_EQ(unpack().error().reason, "bad_hand_over");
    write("file", good + "x");
    EXPECT_EQ(unpack().error().reason, "bad_hand_over");
    write("file", "");
    EXPECT_EQ(unpack().error().reason, "bad_hand_over");
}

TEST_F(HandOverFile, WritesNowhereButBelowTheParts) {
    ASSERT_TRUE(make());
    EXPECT_EQ(unpack({"registry"}).error().reason, "bad_hand_over");
    EXPECT_EQ(unpack({"regist", "privacy"}).error().reason, "bad_hand_over");
    EXPECT_FALSE(unpack({}));
}

/// Refuses a name of which the disk would take a part, and a file that has none.
TEST_F(HandOverFile, TakesNoNameWithAZeroByte) {
    const std::string format = "rampart training 1\n", secret(base::kAeadKeyBytes, 'k');
    const auto make_with = [&](const std::vector<std::string>& frames) {
        auto file = format + runtime::wrap_keys({{"hand-over", "", false, base::to_hex(secret)}},
                                                kWords, kCheap)
                                 .value();
        uint64_t index = 0;
        for (const auto& plain : frames)
            base::append_field(file,
                               base::seal(secret, fmt::format("{}{}", format, index++), plain));
        write("file", file);
    };
    const auto begin = "a" + encode(about());
    make_with({begin, "e"});
    EXPECT_EQ(unpack().error().reason, "bad_hand_over") << "it has no file";
    make_with({begin, "fregistry/a", "e"});
    ASSERT_TRUE(unpack());
    EXPECT_TRUE(fs::exists(folder_ / "out/registry/a"));
    make_with({begin, std::string("fregistry/a\0b", 13), "e"});
    EXPECT_EQ(unpack().error().reason, "bad_hand_over");
    EXPECT_FALSE(fs::exists(folder_ / "out/registry/a"));
}

TEST_F(HandOverFile, SaysWhatIsMissing) {
    EXPECT_FALSE(read_hand_over(folder_ / "none", kWords));
    fs::remove_all(folder_ / "store/privacy");
    EXPECT_FALSE(make());
    EXPECT_FALSE(fs::exists(folder_ / "file"));
    EXPECT_FALSE(fs::exists(folder_ / "file.part"));
}

TEST_F(HandOverFile, WhatItSaysOfItselfIsAllOfItsBytes) {
    const auto bytes = encode(about());
    EXPECT_EQ(decode_hand_over(bytes).value(), about());
    for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(decode_hand_over(bytes.substr(0, n)));
    EXPECT_FALSE(decode_hand_over(bytes + "x"));
    auto other = about();
    other.id = "../..";
    EXPECT_EQ(decode_hand_over(encode(other)).error().reason, "bad_hand_over");
    other = about();
    other.seat.held.reset();
    EXPECT_EQ(decode_hand_over(encode(other)).error().reason, "bad_hand_over");
}

}  // namespace
}  // namespace rampart::rampartd
