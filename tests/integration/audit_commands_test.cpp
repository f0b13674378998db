// The audit log of a store: read by command and HTTP, verified, exported, and verified again by the
// script that has none of Rampart's code.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <sstream>

#include "demo_store.hpp"
#include "rampart/http/client.hpp"
#include "rampart/registry/audit_export.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/secrets.hpp"
#include "tools/demo/service_process.hpp"
#include "unit/registry/audit_files.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::DemoStore;
using Lines = std::vector<std::string>;

class AuditCommands : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() {
        make("audit_commands_test");
        if (HasFatalFailure()) return;
        const auto exported = rampart("audit export --config a/audit.toml --out export.jsonl");
        ASSERT_EQ(exported.exit_code, 0) << exported.output;
    }
    static void TearDownTestSuite() { remove(); }

    static json::value answer(const std::string& arguments, int exit_code = 0) {
        const auto ran = rampart("audit " + arguments + " --json");
        EXPECT_EQ(ran.exit_code, exit_code) << ran.output;
        return json::parse(ran.output.substr(ran.output.find('{')));  // a note may come before it
    }
    static Lines lines() {
        Lines out;
        std::istringstream in(read(out_file()));
        for (std::string line; std::getline(in, line);) out.push_back(line);
        return out;
    }
    static fs::path out_file() { return out() / "export.jsonl"; }
    /// Exit code and output of the script on an export of these lines.
    static std::string script(const Lines& export_lines) {
        const auto file = out() / "tried.jsonl";
        EXPECT_TRUE(
            base::write_file_atomically(file, fmt::format("{}\n", fmt::join(export_lines, "\n"))));
        return script(file);
    }
    static std::string script(const fs::path& file, const std::string& environment = "") {
        const auto ran = test_support::run_program(fmt::format(
            "{} {}/tools/audit/verify_export {} {}", environment, test_support::source_dir(),
            (out() / "a" / "store" / "gate.pub.pem").string(), file.string()));
        return fmt::format("{} {}", ran.exit_code, ran.output);
    }
    static void expect_broken(const Lines& export_lines, const std::string& where) {
        const auto said = script(export_lines);
        EXPECT_TRUE(said.starts_with("1 BROKEN: ")) << said;
        EXPECT_NE(said.find(where), std::string::npos) << said;
    }
};

TEST_F(AuditCommands, ListsAndShowsWhatWasDone) {
    const auto all = answer("list --store a/store --limit 1000").at("entries").as_array();
    ASSERT_GT(all.size(), 5u);
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].at("number"), i + 1);
    const auto promoted = answer("list --store a/store --action promote --limit 1");
    const auto& entry = promoted.at("entries").at(0);
    EXPECT_EQ(entry.at("details").at("certificate"), "e1r1");
    EXPECT_EQ(entry.at("object"), entry.at("after"));
    EXPECT_EQ(entry.at("before"), entry.at("details").at("replaced"));
    const auto number = entry.at("number").to_number<int>();
    EXPECT_EQ(answer(fmt::format("show {} --store a/store", number)), entry);
    const auto text = rampart(fmt::format("audit show {} --store a/store", number));
    EXPECT_NE(text.output.find("certificate: e1r1"), std::string::npos) << text.output;
    const auto model = std::string(entry.at("object").as_string());
    const auto named = answer("list --store a/store --object " + model).at("entries").as_array();
    EXPECT_GE(named.size(), 3u) << "registered, certified, promoted";
    const auto page = rampart("audit list --store a/store --limit 2");
    EXPECT_NE(page.output.find("add --cursor 2"), std::string::npos) << page.output;
    EXPECT_EQ(answer("list --store a/store --cursor 2 --limit 1").at("entries").at(0).at("number"),
              3);
}

TEST_F(AuditCommands, ATextInAnEntryMovesNoCursorAndForgesNoLine) {
    fs::copy(out() / "a", out() / "forged", fs::copy_options::recursive);
    uint64_t number = 0;
    {
        const auto registry =
            registry::ModelRegistry::open(out() / "forged" / "store" / "registry").value();
        ASSERT_TRUE(registry->record_operation(
            base::TimePoint(), "anna", "accept_gap",
            {{"topic", "t\n     1  forged\x1b[2J"}, {"reason", "r\n      9 \u009b2J"}}));
        number = registry->audit_head().count;
    }
    const auto list =
        rampart(fmt::format("audit list --store forged/store --cursor {} --limit 1", number - 1));
    EXPECT_NE(list.output.find("  t\\n     1  forged\\x1b[2J\n"), std::string::npos) << list.output;
    const auto show = rampart(fmt::format("audit show {} --store forged/store", number));
    EXPECT_NE(show.output.find("reason: r\\n      9 \\x9b2J\n"), std::string::npos) << show.output;
    for (const auto& text : {list.output, show.output}) {
        EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
        EXPECT_EQ(text.find("\u009b"), std::string::npos) << text;
    }
}

TEST_F(AuditCommands, RefusesWhatIsNoFilterAndNamesIt) {
    for (const char* wrong : {"--limit 0", "--limit many", "--from soon", "--to 1900",
                              "--cursor -1", "--from 2020-01-02 --to 2020-01-01"}) {
        const auto ran = rampart(std::string("audit list --store a/store ") + wrong);
        EXPECT_EQ(ran.exit_code, 2) << ran.output;
        const auto name = std::string_view(wrong).starts_with("--from 2020") ? "--to" : wrong;
        EXPECT_NE(ran.output.find(std::string(name).substr(0, std::string(name).find(' '))),
                  std::string::npos)
            << ran.output;
    }
    EXPECT_EQ(rampart("audit show 99999 --store a/store").exit_code, 1);
    EXPECT_EQ(rampart("audit list --store nowhere").exit_code, 2);
    EXPECT_EQ(rampart("audit verify --store nowhere").exit_code, 2);
    const auto plain = rampart("audit export --config a/rampartd.toml --out no.jsonl");
    EXPECT_EQ(plain.exit_code, 2) << plain.output;
    EXPECT_FALSE(fs::exists(out() / "no.jsonl"));
}

TEST_F(AuditCommands, VerifiesTheChainAndNamesTheFirstBrokenEntry) {
    const auto sound = answer("verify --store a/store --head export.jsonl");
    EXPECT_EQ(sound.at("verified"), true);
    EXPECT_EQ(sound.at("first_broken"), nullptr);
    EXPECT_EQ(sound.at("entries").to_number<size_t>() + 1, lines().size());
    fs::copy(out() / "a", out() / "b", fs::copy_options::recursive);
    const auto folder = out() / "b" / "store" / "registry";
    auto entry = registry::ModelRegistry::open(folder)->get()->audit_entries()->at(3);
    entry.actor = "mallory";
    registry::testing::put_audit(folder, 4, encode(entry));
    const auto broken = answer("verify --store b/store", 1);
    EXPECT_EQ(broken.at("verified"), false);
    EXPECT_EQ(broken.at("first_broken").at("entry"), 4);
    EXPECT_EQ(broken.at("first_broken").at("reason"), "audit_edited");
    EXPECT_EQ(rampart("audit list --store b/store").exit_code, 4);
    // a head that was filed finds what was cut off together with audit.head
    fs::remove_all(out() / "b");
    fs::copy(out() / "a", out() / "b", fs::copy_options::recursive);
    const auto last = lines().size() - 1;
    const auto before = registry::ModelRegistry::open(folder)->get()->audit_entries()->at(last - 2);
    registry::testing::remove_audit(folder, last);
    ASSERT_TRUE(base::write_file_atomically(folder / "audit.head", to_text(head_of(before))));
    EXPECT_EQ(answer("verify --store b/store").at("verified"), true);
    const auto cut = answer("verify --store b/store --head export.jsonl", 1);
    EXPECT_EQ(cut.at("first_broken").at("entry").to_number<size_t>(), last);
    for (const auto& file : fs::directory_iterator(folder / "registry")) {
        if (file.path().filename().string().starts_with("MANIFEST")) fs::remove(file);
    }
    EXPECT_EQ(rampart("audit verify --store b/store").exit_code, 4) << "it cannot be read";
}

TEST_F(AuditCommands, AnExportVerifiesWithoutRampart) {
    EXPECT_TRUE(script(out_file()).starts_with("0 verified: ")) << script(out_file());
    EXPECT_EQ(fs::status(out_file()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_TRUE(script(out() / "nowhere").starts_with("2 "));
    const auto before = read(out_file());
    const auto again = rampart("audit export --config a/audit.toml --out export.jsonl");
    EXPECT_EQ(again.exit_code, 2) << again.output;
    EXPECT_NE(again.output.find("there is such a file already"), std::string::npos);
    EXPECT_EQ(read(out_file()), before) << "what was filed stays as it is";
    const auto other = base::SigningKey::generate().public_key().to_pem();
    ASSERT_TRUE(base::write_file_atomically(out() / "other.pem", other));
    EXPECT_EQ(rampart("audit verify --store a/store --head export.jsonl --key other.pem").exit_code,
              2);
}

TEST_F(AuditCommands, AnExportThatWasChangedDoesNotVerify) {
    const auto whole = lines();
    ASSERT_GT(whole.size(), 8u);
    auto cut = whole;
    cut.pop_back();
    expect_broken(cut, "cut off");
    cut = whole;
    cut.erase(cut.end() - 2);
    expect_broken(cut, fmt::format("entry {} is missing", whole.size() - 1));
    cut = whole;
    cut.erase(cut.begin() + 3);
    expect_broken(cut, "entry 4 is missing");
    for (const char* member : {"\"at\":\"", "\"principal\":\"", "\"action\":\"", "\"details\":{\"",
                               "\"previous\":\"", "\"hash\":\""}) {
        auto edited = whole;
        char& byte = edited[4][edited[4].find(member) + std::string_view(member).size()];
        byte = byte == '1' ? '2' : '1';
        expect_broken(edited, "entry 5 ");
    }
    auto moved = whole;
    std::swap(moved[2], moved[3]);
    expect_broken(moved, "entry 3 is missing: here is 4");
    auto twice = whole;
    twice.insert(twice.begin() + 1, whole[0]);
    expect_broken(twice, "entry 2 ");
    auto forged = whole;
    char& digit = forged.back()[forged.back().find("\"payload\":\"") + 40];
    digit = digit == 'A' ? 'B' : 'A';  // it stays one of base64
    expect_broken(forged, "signature");
}

TEST_F(AuditCommands, ALogThatWasWrittenAnewDoesNotContinueAnEarlierExport) {
    const auto store = out() / "a" / "store";
    const auto key =
        base::SigningKey::from_raw(runtime::load_secret(store / "keys" / "signing").value())
            .value();
    const auto entries =
        registry::ModelRegistry::open(store / "registry", registry::ModelRegistry::Mode::kReadOnly)
            ->get()
            ->audit_entries()
            .value();
    const auto write = [&](const char* name, std::span<const registry::AuditEntry> log) {
        const auto bytes = registry::export_audit_log(log, base::TimePoint(), key);
        EXPECT_TRUE(base::write_file_atomically(out() / name, bytes));
        return out() / name;
    };
    const auto earlier = write("earlier.jsonl", std::span(entries).first(4));
    const auto both = [&](const fs::path& later) {
        return script(later.string() + " " + earlier.string());
    };
    const auto sound = both(out_file());
    EXPECT_TRUE(sound.starts_with("0 verified: ")) << sound;
    EXPECT_NE(sound.find("with key " + key.public_key().id()), std::string::npos) << sound;
    EXPECT_NE(sound.find("begins with the 4 entries"), std::string::npos) << sound;
    std::vector<registry::AuditEntry> anew;
    registry::AuditHead head;
    for (const auto& entry : entries) {
        const auto actor = entry.sequence == 3 ? "mallory" : entry.actor;
        anew.push_back(
            registry::next_entry(head, entry.at, actor, entry.action, entry.details).value());
        head = head_of(anew.back());
    }
    const auto forged = write("anew.jsonl", anew);
    EXPECT_TRUE(script(forged).starts_with("0 verified: ")) << "nothing in it shows that";
    EXPECT_NE(both(forged).find("BROKEN: entry 3 is another one"), std::string::npos);
    EXPECT_TRUE(both(forged).starts_with("1 "));
    const auto cut = write("cut.jsonl", std::span(entries).first(2));
    EXPECT_NE(both(cut).find("BROKEN: entry 3 is missing"), std::string::npos) << both(cut);
}

TEST_F(AuditCommands, WhatReadersMayReadDifferentlyDoesNotVerify) {
    const auto whole = lines();
    const auto with = [&](const std::string& text, const std::string& other) {
        auto edited = whole;
        const auto at = edited[4].find(text);
        EXPECT_NE(at, std::string::npos) << edited[4];
        edited[4].replace(at, text.size(), other);
        return edited;
    };
    expect_broken(with("\"action\":", "\"action\":\"none\",\"action\":"),
                  "entry 5 cannot be read: a member is given twice");
    expect_broken(with("Z\",\"principal", "+00:00\",\"principal"),
                  "entry 5 cannot be read: the time");
    expect_broken(with("\"number\":5", "\"number\":5.0"), "entry 5 cannot be read: 5.0 is no");
}

TEST_F(AuditCommands, WhatOpensslCannotVerifyIsNotCalledBroken) {
    const auto folder = out() / "old_openssl";
    fs::create_directories(folder);
    ASSERT_TRUE(base::write_file_atomically(
        folder / "openssl", "#!/bin/sh\necho 'Unknown option: -rawin'; exit 1\n", 0700));
    const auto said = script(out_file(), fmt::format("PATH={}:$PATH", folder.string()));
    EXPECT_TRUE(said.starts_with("2 ")) << said;
    EXPECT_NE(said.find("Unknown option: -rawin"), std::string::npos) << said;
}

TEST_F(AuditCommands, AnEntryWhoseHashWasMadeAnewIsFoundByTheOneBehindItOrTheHead) {
    const auto whole = lines();
    const size_t last = whole.size() - 1;
    auto entries = registry::ModelRegistry::open(out() / "a" / "store" / "registry",
                                                 registry::ModelRegistry::Mode::kReadOnly)
                       ->get()
                       ->audit_entries()
                       .value();
    for (const size_t number : {size_t{5}, last}) {
        auto& entry = entries[number - 1];
        entry.actor = "mallory";
        entry.hash = hash_of(entry);
        const auto anew = registry::export_audit_log(std::span(&entry, 1), entry.at,
                                                     base::SigningKey::generate());
        auto forged = whole;
        forged[number - 1] = anew.substr(0, anew.find('\n'));
        expect_broken(forged, number == last
                                  ? fmt::format("entry {} is not the one that was signed", last)
                                  : "entry 6 does not follow");
        forged.back() = anew.substr(anew.find('\n') + 1, anew.size() - anew.find('\n') - 2);
        expect_broken(forged, "not among those given");
    }
}

TEST_F(AuditCommands, AServingNodeAnswersTheSameByHttp) {
    fs::copy(out() / "a", out() / "served", fs::copy_options::recursive);
    const auto folder = out() / "served";
    fs::remove(folder / "store" / "endpoint");
    auto process = demo::ServiceProcess::start(
        kRampart, folder / "rampartd.toml", folder / "store" / "endpoint", folder / "service.log");
    ASSERT_TRUE(process) << process.error().message;
    auto token = read(folder / "store" / "keys" / "token");
    token.pop_back();
    const auto endpoint = read(folder / "store" / "endpoint");
    auto client =
        http::Client::create(endpoint.substr(0, endpoint.find('\n')), {.token = token}).value();
    const auto asked = client.get("/v1/audit?action=promote&limit=1");
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->status, 200) << asked->body;
    const auto listed = answer("list --store served/store --action promote --limit 1");
    EXPECT_EQ(json::parse(asked->body), listed) << "while it is served";
    EXPECT_EQ(client.get("/v1/audit?limit=0")->status, 400);
    EXPECT_EQ(answer("verify --store served/store --head export.jsonl").at("verified"), true);
    EXPECT_TRUE(process->stop());
}

}  // namespace
}  // namespace rampart
