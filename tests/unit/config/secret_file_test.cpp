#include "rampart/config/secret_file.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"

namespace rampart::config {
namespace {

namespace fs = std::filesystem;

/// A folder of credentials, gone afterwards.
class SecretFile : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(fs::create_directories(folder_));
        ASSERT_TRUE(base::write_file_atomically(folder_ / "tls", "key", 0400));
        ASSERT_TRUE(base::write_file_atomically(folder_ / "group", "key", 0400));
    }
    void TearDown() override { fs::remove_all(folder_); }

    std::string refusal(const std::string& value, const fs::path& credentials) {
        auto root = parse("[http.tls]\nkey_file = \"" + value + "\"\n", "x.toml").value();
        auto table = root.table("http").table("tls");
        EXPECT_EQ(secret_file(table, "key_file", {"/etc", credentials}), "");
        const auto status = root.finish();
        return status ? "" : status.error().message;
    }

    fs::path folder_ = fs::path(testing::TempDir()) / ("c" + base::to_hex(base::random_bytes(8)));
    Places places_{"/etc/rampart", folder_};
};

TEST_F(SecretFile, IsAPathOrACredential) {
    EXPECT_EQ(secret_file("a.key", places_).value(), "/etc/rampart/a.key");
    EXPECT_EQ(secret_file("/run/a.key", places_).value(), "/run/a.key");
    EXPECT_EQ(secret_file("./credential:tls", places_).value(), "/etc/rampart/./credential:tls");
    EXPECT_EQ(secret_file("credential:tls", places_).value(), folder_ / "tls");
    EXPECT_EQ(secret_file("", places_).value(), "");
    EXPECT_EQ(secret_file("a.key", Places{}).value(), "a.key");
}

TEST_F(SecretFile, ThatIsMissingIsRefusedWithSettingValueAndRemedy) {
    for (const auto& [value, credentials, word] :
         std::vector<std::tuple<std::string, fs::path, std::string>>{
             {"credential:tls", "", "CREDENTIALS_DIRECTORY is not set"},
             {"credential:tls", "run", "no absolute path"},
             {"credential:no", folder_, (folder_ / "no").string()}}) {
        const auto said = refusal(value, credentials);
        const auto name = value.substr(value.find(':') + 1);
        for (const std::string& part : {std::string("x.toml, line 2: http.tls.key_file"), value,
                                        word, "LoadCredential=" + name + ":FILE"})
            EXPECT_NE(said.find(part), std::string::npos) << part << " in " << said;
    }
    EXPECT_EQ(secret_file("credential:no", places_).error().reason, "no_credential");
}

TEST_F(SecretFile, StaysInTheFolder) {
    ASSERT_TRUE(fs::create_directories(folder_ / "sub"));
    for (const std::string name :
         {"", ".", "..", "../c", "sub/x", "/etc/passwd", "a:b", "a b", "\\u00e9", "\\u0000tls"}) {
        EXPECT_NE(refusal("credential:" + name, folder_).find("the name of a credential"),
                  std::string::npos)
            << name;
    }
    EXPECT_NE(refusal("credential:" + std::string(256, 'a'), folder_), "");
    EXPECT_NE(refusal("credential:sub", folder_).find("there is no file"), std::string::npos);
    EXPECT_EQ(secret_file("credential:..", places_).error().reason, "bad_credential_name");
}

TEST_F(SecretFile, ListsMayHaveBoth) {
    auto root =
        parse("files = [\"a\", \"credential:group\"]\nbad = [\"credential:no\", \"a\"]\n", "x.toml")
            .value();
    EXPECT_EQ(secret_files(root, "files", places_),
              (std::vector<fs::path>{"/etc/rampart/a", folder_ / "group"}));
    EXPECT_TRUE(secret_files(root, "none", places_).empty());
    EXPECT_TRUE(secret_files(root, "bad", places_).empty());
    EXPECT_NE(root.finish().error().message.find("'credential:no'"), std::string::npos);
}

}  // namespace
}  // namespace rampart::config
