// Two stores over the same stream but for the outcomes of the vault's persons, all of which differ:
// no byte of any answer without audit may, except the gate's verdict.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "rampart/base/file.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "secrecy_commands.hpp"
#include "services/rampartd/node.hpp"
#include "support/explained_policy.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/service_process.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using certification::Verdict;
using test_support::run_program;

const std::string kRampart = test_support::bin_dir() + "/rampart";
constexpr size_t kBefore = 1600, kApplicants = 2400;  // decided before the first run; in all
constexpr int kReported = 100, kMatured = 260, kSecondRun = 520;  // days from the start

void replace(std::string& text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
}

/// What the persons of the vault do: as the stream has it, other in every outcome with the same
/// verdicts, or so that the gate's verdicts are others.
enum class Vault { kAsIs, kOther, kBad };

loan_stream::Stream stream() {
    return loan_stream::load({.name = "simulated", .data_dir = {}, .rows = kApplicants}).value();
}

/// A store, and what a caller sees of it.
class World {
  public:
    World(const std::string& name, Vault vault)
        : stream_(stream()),
          vault_(vault),
          start_(stream_.applicants.front().application.event_time) {
        const auto folder = fs::path(testing::TempDir()) / fmt::format("{}.{}", name, ::getpid());
        workspace_ =
            demo::prepare_workspace(folder, test_support::source_dir() + "/ops/config", stream_, 5)
                .value();
        // the tags of persons are the same everywhere
        EXPECT_TRUE(base::write_file_atomically(workspace_.store / "keys" / "person",
                                                base::sha256("person").hex() + "\n", 0600));
        configure();
        open();
    }
    ~World() {
        close();
        fs::remove_all(workspace_.folder);
    }
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    Node& node() { return *node_; }
    const demo::Workspace& workspace() const { return workspace_; }
    void close() {
        router_.reset();
        node_.reset();
    }
    void open() {
        auto opened = Node::open(load_settings(workspace_.config).value());
        ASSERT_TRUE(opened) << opened.error().message;
        node_ = std::move(*opened);
        router_.emplace(access::one_token("t", {"anna", access::Scopes::all()}));
        node_->add_routes(*router_);
    }
    TimePoint day(int n) const { return start_ + Duration::days(n); }
    void advance(int to) {
        const auto status = node_->advance(day(to));
        ASSERT_TRUE(status) << status.error().message;
    }

    /// Everything up to the first certificate.
    retraining::RunRecord begin() {
        advance(0);
        publish_attributes();
        live_through(0, kBefore, 0);
        advance(kMatured);
        return certify(with_base_score(50), kMatured);
    }
    /// A run that fails, a further look at it, a refusal, a run of the trainer, reports that
    /// contradict earlier ones, and looks of the monitor.
    void go_on() {
        guess();
        const auto worse = with_base_score(-50);
        certify(worse, kMatured + 1);
        certify(node_->registry().promotions().front().policy, kMatured + 1);  // too far away
        live_through(kBefore, kApplicants, kMatured + 2);
        advance(kSecondRun);
        certify(worse, kSecondRun);
        certify(node_->registry().champion()->policy, kSecondRun + 1);
        const auto run = node_->trainer().run_at(day(kSecondRun + 2));
        ASSERT_TRUE(run) << run.error().message;
        advance(kSecondRun + 3);
    }

    retraining::RunRecord certify(const domain::PolicyId& candidate, int at) {
        const auto run = node_->certify(candidate, day(at), "");
        EXPECT_TRUE(run) << run.error().message;
        return run.value_or(retraining::RunRecord{});
    }
    /// A candidate that approves as many, or as few, as the trust region around the champion
    /// allows.
    domain::PolicyId with_base_score(double score) {
        const auto champion = node_->registry().champion()->policy;
        const auto loaded = node_->registry().load_model(champion).value();
        auto links = loaded.policy.links();
        auto link = support::scored_link(score);
        link.ramp = {0.3, 0.5, {0.0}, {1.0}};
        links.emplace_back(link);
        const auto policy = support::explained_policy(loaded.policy.schema(), links);
        return node_->registry()
            .register_model(model::encode_model_file(policy), node_->now(), "a test")
            .value();
    }

    /// Writes a model as people bring it, which declines all, into the folder.
    void write_model(const std::string& name) {
        const auto policy = support::explained_policy(stream_.schema, {support::scored_link(-50)});
        ASSERT_TRUE(model::save_model_file(policy, workspace_.folder / name));
    }

    std::string ask(const std::string& method, const std::string& target,
                    const std::string& body = {}) {
        http::Request request;
        request.method = method;
        request.headers = {{"Authorization", "Bearer t"}};
        request.body = body;
        EXPECT_TRUE(http::parse_target(target, request)) << target;
        const auto response = router_->handle(std::move(request));
        auto text = fmt::format("{} {}\n", response.status, response.content_type);
        for (const auto& [name, value] : response.headers) text += name + ": " + value + "\n";
        return masked(text + response.body);
    }
    /// Each GET route of the router: a new one is in the test by itself.
    std::map<std::string, std::string> ask_all() {
        std::map<std::string, std::string> answers;
        for (const auto& route : router_->routes()) {
            if (route.method != "GET") continue;
            for (const auto& name : {std::string("e1r1"), in_vault_.at(0).id.value()}) {
                const auto path = std::regex_replace(route.pattern, std::regex(R"(\{\w+\})"), name);
                answers[path] = ask("GET", path + "?reason=curious");
                answers[path + " plain"] = ask("GET", path);
            }
        }
        return answers;
    }
    /// What a command prints on either stream, and its exit code.
    std::string command(const std::string& arguments) const {
        auto text = std::regex_replace(arguments, std::regex("STORE"), workspace_.store.string());
        text = std::regex_replace(text, std::regex("CONFIG"), workspace_.config.string());
        text = std::regex_replace(text, std::regex("FOLDER"), workspace_.folder.string());
        text = std::regex_replace(text, std::regex("DECISION"), in_vault_.at(0).id.value());
        text = std::regex_replace(text, std::regex("DECLINE"), declined_in_vault_.at(0).value());
        text = std::regex_replace(text, std::regex("SOURCE"), test_support::source_dir());
        const auto ran = run_program(kRampart + " " + text);
        return masked(fmt::format("{}\n{}", ran.exit_code, ran.output));
    }

    /// Digests that depend on the vault's outcomes: of certificates with evidence, of evidence, and
    /// of the joined state.
    std::set<std::string> secrets() {
        std::set<std::string> found;
        const auto certificates = node_->registry().certificates().value();
        const auto states = node_->joiner().partition_states().value();
        for (const auto& info : certificates) {
            if (!info.evidence) continue;
            found.insert(info.id.hex());
            found.insert(info.evidence->hex());
        }
        found.insert(node_->joiner().state_hash().hex());
        for (const auto& state : states) found.insert(state.hash.hex());
        return found;
    }
    /// Where the records lie that contradict outcomes of the vault.
    std::vector<wire::Quarantined> withheld() {
        auto all = node_->joiner().list_quarantined(1000, joiner::Withheld::kShown).value();
        std::erase_if(all, [](const auto& one) { return one.reason != "withheld_outcome"; });
        return all;
    }
    const std::vector<domain::Decision>& in_vault() const { return in_vault_; }
    /// Makes a link of this name in the folder to a certificate of the registry.
    void link_certificate(const std::string& name, const std::string& link) {
        const auto id = registry::CertificateNames::read(node_->registry())->find(name).value();
        fs::create_symlink(workspace_.store / "registry" / "certificates" / (id.hex() + ".cert"),
                           workspace_.folder / link);
    }

  private:
    /// Two groups, an impact that is reported as a number, and runs that are charged.
    void configure() {
        auto product = base::read_file(workspace_.folder / "product.toml", 1 << 20).value();
        replace(product, "favourable = 75\nunfavourable = -150\n", "measure = \"points\"\n");
        replace(product, "[[attribute]]",
                "[[measure]]\nname = \"points\"\nlo = -150\nhi = 75\nhorizon_months = 6\n"
                "grace_days = 30\n\n[[attribute]]");
        replace(product, "[\"white\", \"black\", \"hispanic\", \"asian\"]",
                "[\"white\", \"black\"]");
        ASSERT_TRUE(base::write_file_atomically(workspace_.folder / "product.toml", product));
        auto config = base::read_file(workspace_.config, 1 << 20).value();
        replace(config, "every_months = 2", "every_months = 0\nevery_matured = 1000000000");
        replace(config, "trees = 200", "trees = 20");
        replace(config, "runs_per_epoch = 12",
                "runs_per_epoch = 12\nmin_power = 0.0\nlook_again = true");
        config += "\n[privacy]\nretention_months = 8\n";  // so that persons can be erased
        ASSERT_TRUE(base::write_file_atomically(workspace_.config, config));
    }

    void publish_attributes() {
        for (size_t n = 0; n < kApplicants; n += 800) {
            std::string body;
            for (size_t i = n; i < std::min(n + 800, kApplicants); ++i) {
                const auto& one = stream_.applicants[i].application;
                body += protected_attributes::to_json(
                            {one.person, start_, {{"race", i % 2 == 0 ? "white" : "black"}}}) +
                        "\n";
            }
            ASSERT_EQ(ask("POST", "/v1/protected-attributes", body).substr(0, 3), "200");
        }
    }

    struct Values {
        double label = 0, points = 0;
    };
    /// What becomes of an approved applicant: mostly well.
    Values values_of(const domain::Decision& decision) const {
        const auto luck = [&](const char* key) {
            return base::keyed_uniform(key, decision.id.value());
        };
        Values values{luck("label") < 0.9 ? 1.0 : 0.0, 40 + 30 * luck("points")};
        const bool vault = training_set::in_vault(node_->keys().split, decision.application.person);
        if (!vault || vault_ == Vault::kAsIs) return values;
        return {1 - values.label, vault_ == Vault::kBad ? values.points - 120 : values.points - 1};
    }
    void live_through(size_t from, size_t to, int time) {
        for (size_t n = from; n < to; n += 400) {
            std::vector<domain::Application> batch;
            for (size_t i = n; i < std::min(n + 400, to); ++i) {
                batch.push_back(stream_.applicants[i].application);
                batch.back().event_time = day(time);
            }
            std::vector<domain::Outcome> outcomes;
            const auto decided = node_->decisions().decide(batch).value();
            for (const auto& decision : decided) {
                const bool vault =
                    training_set::in_vault(node_->keys().split, decision.application.person);
                if (decision.action != domain::Action::kApprove) {
                    if (vault) declined_in_vault_.push_back(decision.id);
                    continue;
                }
                (vault ? in_vault_ : developed_).push_back(decision);
                const auto [label, points] = values_of(decision);
                const TimePoint at = day(time + kReported);
                outcomes.push_back({decision.id, "repaid", 0, label, at});
                outcomes.push_back({decision.id, "points", 0, points, at});
            }
            EXPECT_TRUE(node_->decisions().submit_outcomes(outcomes));
        }
    }
    /// Reports again what is known, as it is in the first world: in the others it contradicts where
    /// it is about the vault. Some contradict in all worlds, and some are sent about the others.
    void guess() {
        for (const auto& decisions : {in_vault_, developed_}) {
            for (size_t n = 0; n < 12; ++n) {
                const double label =
                    base::keyed_uniform("label", decisions[n].id.value()) < 0.9 ? 1 : 0;
                const domain::Outcome report{decisions[n].id, "repaid", 0,
                                             n % 3 == 0 ? 1 - label : label, day(kReported)};
                const auto answer = ask("POST", "/v1/outcomes", wire::to_json(report));
                EXPECT_TRUE(answer.ends_with(R"({"accepted":1})")) << answer;
            }
        }
        const domain::Outcome revised{in_vault_[20].id, "repaid", 1, 1, day(kReported)};
        ask("POST", "/v1/outcomes", wire::to_json(revised));
        advance(kMatured);
    }

    /// Without what depends on the place of the store and on how long things took.
    std::string masked(std::string text) const {
        for (const auto& folder : {workspace_.folder.string()}) {
            for (size_t at = text.find(folder); at != std::string::npos; at = text.find(folder))
                text.replace(at, folder.size(), "FOLDER");
        }
        return std::regex_replace(
            text,
            std::regex("(rampart_(\\w*seconds|disk|cache|database_level0)|process_)\\w*[^\n]*\n"),
            "");
    }

    const loan_stream::Stream stream_;
    const Vault vault_;
    const TimePoint start_;
    demo::Workspace workspace_;
    std::unique_ptr<Node> node_;
    std::optional<http::Router> router_;
    std::vector<domain::Decision> in_vault_, developed_;  // the approved
    std::vector<domain::DecisionId> declined_in_vault_;
};

void expect_without(const std::map<std::string, std::string>& answers,
                    const std::set<std::string>& secrets) {
    for (const auto& [what, answer] : answers)
        for (const auto& secret : secrets)
            EXPECT_EQ(answer.find(secret.substr(0, 12)), std::string::npos) << what << answer;
}

void expect_equal(const std::map<std::string, std::string>& a,
                  const std::map<std::string, std::string>& b) {
    EXPECT_EQ(a.size(), b.size());
    for (const auto& [what, answer] : a) EXPECT_EQ(answer, b.at(what)) << what;
}

class Secrecy : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        a_ = std::make_unique<World>("secrecy_a", Vault::kAsIs);
        b_ = std::make_unique<World>("secrecy_b", Vault::kOther);
        for (auto* world : {a_.get(), b_.get()}) {
            EXPECT_EQ(world->begin().verdict, Verdict::kCertified);
            world->go_on();
        }
    }
    static void TearDownTestSuite() {
        a_.reset();
        b_.reset();
    }
    static std::unique_ptr<World> a_, b_;
};
std::unique_ptr<World> Secrecy::a_, Secrecy::b_;

TEST_F(Secrecy, TheWorldsDifferInEveryFigureOfTheVaultAndInNoVerdict) {
    const auto of_a = a_->secrets(), of_b = b_->secrets();
    EXPECT_GE(of_a.size(), 11u) << "three tests, one of them with two looks, and a state";
    std::vector<std::string> both;
    std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                          std::back_inserter(both));
    EXPECT_TRUE(both.empty());
    EXPECT_GT(b_->withheld().size(), a_->withheld().size());
    EXPECT_GT(a_->withheld().size(), 0u);
    std::set<Verdict> verdicts;
    const auto runs = a_->node().trainer().runs().value(),
               others = b_->node().trainer().runs().value();
    ASSERT_EQ(runs.size(), others.size());
    for (size_t i = 0; i < runs.size(); ++i) {
        EXPECT_EQ(runs[i].verdict, others[i].verdict) << i;
        verdicts.insert(runs[i].verdict);
    }
    EXPECT_EQ(verdicts.size(), 4u) << "each verdict occurs";
}

TEST_F(Secrecy, NoByteOfAnyAnswerDependsOnTheVault) {
    const auto of_a = a_->ask_all(), of_b = b_->ask_all();
    EXPECT_GE(std::count_if(of_a.begin(), of_a.end(),
                            [](const auto& one) { return one.second.starts_with("200"); }),
              20);
    expect_equal(of_a, of_b);
    auto secrets = a_->secrets();
    secrets.merge(b_->secrets());
    expect_without(of_a, secrets);
    expect_without(of_b, secrets);
    EXPECT_NE(of_a.at("/v1/runs plain").find(R"("certificate":"e1r2l1")"), std::string::npos);
    EXPECT_NE(of_a.at("/v1/certificates/e1r1").find("audit_required"), std::string::npos);
    EXPECT_NE(of_a.at("/v1/quarantine").find("conflicting_outcome"), std::string::npos);
}

TEST_F(Secrecy, NorDoesWhatIsAnsweredToARequestAboutThem) {
    std::vector<std::pair<std::string, std::string>> requests;
    for (const auto& one : b_->withheld()) {
        for (const char* act : {"replay", "drop"}) {
            requests.emplace_back(fmt::format("/v1/quarantine/{}", act),
                                  fmt::format(R"({{"topic":"{}","partition":{},"offset":{},)"
                                              R"("reason":"r"}})",
                                              one.topic, one.partition, one.offset));
        }
    }
    for (size_t n = 0; n < 12; ++n) {
        requests.emplace_back("/v1/erasures",
                              fmt::format(R"({{"person_id":"{}","reason":"r","dry_run":true}})",
                                          a_->in_vault()[n].application.person));
    }
    for (const auto& [path, body] : requests) {
        const auto answer = a_->ask("POST", path, body);
        EXPECT_EQ(answer, b_->ask("POST", path, body)) << path << body;
        EXPECT_TRUE(answer.starts_with(path == "/v1/erasures" ? "200" : "404")) << answer;
    }
}

/// The names of all commands, as --help lists them.
std::set<std::string> all_commands() {
    const auto listed = [](const std::string& of) {
        std::vector<std::string> names;
        auto text = run_program(kRampart + " " + of + " --help").output;
        text.resize(std::min(text.find("\nHelp:\n"), text.size()));
        const std::regex command("\n  ([a-z-]+)  ");
        for (std::sregex_iterator it(text.begin(), text.end(), command), end; it != end; ++it)
            names.push_back((*it)[1]);
        const bool family = of.empty() || text.find("\nCommands:\n") != std::string::npos;
        return family ? names : std::vector<std::string>();
    };
    std::set<std::string> found;
    for (const auto& first : listed("")) {
        const auto second = listed(first);
        if (second.empty()) found.insert(first);
        for (const auto& name : second) found.insert(first + " " + name);
    }
    return found;
}

/// Sizes and times of files, which differ anyway; who has the files can read the outcomes.
bool shows_sizes(const std::string& command) {
    return command.starts_with("backup ") || command == "store check" || command == "status";
}

TEST_F(Secrecy, NorDoesWhatAnyCommandPrints) {
    auto commands = all_commands();
    for (const auto& other : kOthers) EXPECT_EQ(commands.erase(other), 1u) << other;
    std::erase_if(commands, [](const auto& one) { return one.starts_with("token "); });  // callers
    auto secrets = a_->secrets();
    secrets.merge(b_->secrets());
    std::map<std::string, std::string> answers[2];
    for (auto* world : {a_.get(), b_.get()}) {
        world->link_certificate("e1r1", "own.cert");
        world->write_model("m.rmp");
        const auto worse = world->with_base_score(-50).value();
        const auto champion = world->node().registry().champion()->policy.value();
        world->close();
        auto& of_world = answers[world == a_.get() ? 0 : 1];
        const auto run = [&](const auto& list) {
            for (const auto& [command, options, exit_code] : list) {
                const auto line = command + " " + options;
                auto typed = std::regex_replace(line, std::regex("WORSE"), worse);
                typed = std::regex_replace(typed, std::regex("CHAMPION"), champion);
                auto answer = world->command(typed);
                EXPECT_TRUE(answer.starts_with(fmt::format("{}\n", exit_code))) << line << answer;
                if (line.find("--svg ") != std::string::npos)
                    answer += base::read_file(world->workspace().folder / "p.svg", 1 << 20).value();
                if (command == "status")  // its jobs are at this or that
                    answer = answer.substr(0, answer.find("\njob "));
                if (shows_sizes(command))
                    answer = std::regex_replace(answer, std::regex("[0-9]+"), "N");
                of_world[line] = answer;
                commands.erase(command);
            }
        };
        run(kAtRest);
        const auto& place = world->workspace();
        auto process =
            demo::ServiceProcess::start(kRampart, place.config, place.endpoint_file, place.log);
        ASSERT_TRUE(process) << process.error().message;
        run(kServed);
        ASSERT_TRUE(process->stop());
        world->open();
    }
    EXPECT_TRUE(commands.empty()) << "say what it reads: " << *commands.begin();
    expect_equal(answers[0], answers[1]);
    for (const auto& of_world : answers) expect_without(of_world, secrets);
    EXPECT_NE(answers[0].at("models --store STORE").find("e1r1"), std::string::npos);
    const auto& certified = answers[0].at("certify --config CONFIG --model WORSE");
    EXPECT_NE(certified.find("certificate: e1r"), std::string::npos) << certified;
}

TEST(SecrecyOfARun, OnlyTheVerdictOfARunSaysWhetherItPassed) {
    std::vector<std::string> shown;
    std::set<Verdict> verdicts;
    for (const auto vault : {Vault::kAsIs, Vault::kBad}) {
        World world("secrecy_verdict", vault);
        const auto verdict = world.begin().verdict;
        verdicts.insert(verdict);
        auto runs = world.ask("GET", "/v1/runs");
        replace(runs, std::string(to_string(verdict)), "VERDICT");
        shown.push_back(runs);
    }
    EXPECT_EQ(verdicts, (std::set{Verdict::kCertified, Verdict::kNoSolutionFound}));
    EXPECT_EQ(shown[0], shown[1]);
}

TEST(SecrecyWithAudit, FiguresAreShownEachReadingIsLoggedAndNoCandidateIsProposed) {
    World world("secrecy_audit", Vault::kOther);
    world.begin();
    world.go_on();
    world.close();
    const auto config = world.workspace().config;
    const auto plain = base::read_file(config, 1 << 20).value();
    ASSERT_TRUE(base::write_file_atomically(config, plain + "\n[audit]\nenabled = true\n"));
    world.open();
    auto& node = world.node();
    const auto logged = [&] { return node.registry().audit_head().count; };
    const auto before = logged();
    const auto certificate = world.ask("GET", "/v1/certificates/e1r2l1?reason=validation");
    EXPECT_TRUE(certificate.starts_with("200")) << certificate;
    const auto entry = node.registry().audit_entries()->back();
    EXPECT_EQ(entry.action, "read_figures");
    EXPECT_EQ(entry.actor, "anna");
    EXPECT_NE(world.ask("GET", "/v1/quarantine").find("withheld_outcome"), std::string::npos);
    EXPECT_EQ(node.registry().audit_entries()->back().action, "read_quarantine");
    EXPECT_EQ(logged(), before + 2);
    EXPECT_NE(world.ask("GET", "/v1/partitions").find(R"("state_hash":")"), std::string::npos);
    EXPECT_EQ(logged(), before + 2);
    const auto refused = node.certify(node.registry().champion()->policy, node.now(), "");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "auditor_may_not_propose");
    const size_t models = node.registry().models()->size();
    world.close();
    const auto proposed = world.command("certify --config CONFIG --model FOLDER/other.rmp");
    EXPECT_NE(proposed.find("audit.enabled is true"), std::string::npos) << proposed;
    const auto copied =
        world.command("figures e1r1 --config CONFIG --out FOLDER --reason check --actor bert");
    EXPECT_TRUE(copied.starts_with("0\n")) << copied;
    EXPECT_TRUE(world.command("verify FOLDER/e1r1.cert").starts_with("0\n"));
    world.open();
    EXPECT_EQ(world.node().registry().models()->size(), models);
    EXPECT_EQ(world.node().registry().audit_entries()->back().actor, "bert");
}

}  // namespace
}  // namespace rampart::rampartd
