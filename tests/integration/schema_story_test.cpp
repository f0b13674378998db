// Two years of a deployment whose features change: one is added, one is renamed, one is retired.
// Its node is replaced twice, and the state is made anew from the log. Every decision replays, and
// every certificate verifies, by Rampart and by the checker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "rampart/base/file.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "services/rampartd/compare.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/replay.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "tools/demo/workspace.hpp"

namespace rampart::rampartd {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::TimePoint;
using test_support::run_program;
using testing::Contains;
using testing::HasSubstr;

constexpr size_t kRows = 6000;
const std::string kRetired = "late_payments_24m", kRenamed = "score", kNewName = "bureau_score",
                  kAdded = "savings";

std::string read(const fs::path& path) { return base::read_file(path, size_t{1} << 30).value(); }

void replace(std::string& text, const std::string& part, const std::string& by) {
    const auto at = text.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    text.replace(at, part.size(), by);
}

/// What producers send at a time of the story.
enum class Sends { kOld, kBoth, kNew };

class SchemaStory : public testing::Test {
  protected:
    SchemaStory() {
        stream_ = loan_stream::load({.name = "simulated", .data_dir = {}, .rows = kRows}).value();
        workspace_ = demo::prepare_workspace(folder_ / "a",
                                             test_support::source_dir() + "/ops/config", stream_, 1)
                         .value();
        half_ = stream_.start + Duration::micros((stream_.end - stream_.start).micros() / 2);
    }
    ~SchemaStory() override { fs::remove_all(folder_); }

    base::Result<std::unique_ptr<Node>> open() const {
        RAMPART_TRY(auto settings, load_settings(workspace_.config));
        return Node::open(std::move(settings));
    }
    std::unique_ptr<Node> opened() const {
        auto node = open();
        EXPECT_TRUE(node) << node.error().message;
        return node ? *std::move(node) : nullptr;
    }
    fs::path schema() const { return workspace_.folder / "schema.toml"; }
    void write_schema(const std::string& text) const {
        ASSERT_TRUE(base::write_file_atomically(schema(), text));
    }
    std::string error_with(const fs::path& file, const std::string& text) const {
        const auto before = read(file);
        EXPECT_TRUE(base::write_file_atomically(file, text));
        const auto node = open();
        EXPECT_TRUE(base::write_file_atomically(file, before));
        if (node) return "";
        return node.error().reason + ": " + node.error().message;
    }
    /// The schema file of the second half of the story.
    std::string changed_schema() const {
        auto text = read(schema());
        const auto until = base::to_iso8601(half_ + Duration::days(120));
        replace(text, "name = \"" + kRenamed + "\"\nkind = \"numeric\"\n",
                fmt::format("name = \"{}\"\nkind = \"numeric\"\nwas = [\"{}\"]\n"
                            "accepted_until = \"{}\"\n",
                            kNewName, kRenamed, until));
        replace(text, "name = \"" + kRetired + "\"\nkind = \"numeric\"\n",
                fmt::format("name = \"{}\"\nkind = \"numeric\"\ndefault = 0\nretired = true\n"
                            "accepted_until = \"{}\"\n",
                            kRetired, until));
        return text + fmt::format(
                          "[[feature]]\nname = \"{}\"\nkind = \"numeric\"\n"
                          "optional = true\n",
                          kAdded);
    }

    /// The application as producers send it; what is new says something of the outcome.
    domain::Application sent(const loan_stream::Applicant& applicant, Sends how) const {
        auto application = applicant.application;
        if (how == Sends::kOld) return application;
        const double luck = base::keyed_uniform("savings", application.id.value());
        const bool good = applicant.label.value_or(luck < 0.5);
        application.features.push_back({kAdded, (good ? 2.0 : 0.0) + 2 * luck});
        if (how == Sends::kBoth) return application;
        std::erase_if(application.features, [](const auto& f) { return f.name == kRetired; });
        for (auto& feature : application.features)
            if (feature.name == kRenamed) feature.name = kNewName;
        return application;
    }
    void state_attributes(Node& node, size_t from, size_t to) const {
        http::Router router(access::one_token("t"));
        node.add_routes(router);
        http::Request request;
        request.method = "POST";
        request.path = "/v1/protected-attributes";
        request.headers = {{"Authorization", "Bearer t"}};
        for (size_t i = from; i < to; ++i) {
            const auto& one = stream_.applicants[i];
            request.body +=
                protected_attributes::to_json({one.application.person, one.application.event_time,
                                               one.protected_attributes}) +
                "\n";
        }
        ASSERT_EQ(router.handle(std::move(request)).status, 200);
    }
    /// Decides the applicants of the week that ends at `until`, and reports what is known by then.
    void live_a_week(Node& node, TimePoint until, Sends how) {
        const auto& applicants = stream_.applicants;
        const size_t from = decided_;
        while (decided_ < applicants.size() && applicants[decided_].application.event_time <= until)
            ++decided_;
        if (from < decided_) {
            state_attributes(node, from, decided_);
            std::vector<domain::Application> batch;
            for (size_t i = from; i < decided_; ++i) batch.push_back(sent(applicants[i], how));
            const auto decisions = node.decisions().decide(batch);
            ASSERT_TRUE(decisions) << decisions.error().message;
            for (size_t i = 0; i < batch.size(); ++i) {
                ++by_policy_[(*decisions)[i].policy];
                if ((*decisions)[i].action != domain::Action::kApprove) continue;
                for (const auto& report : applicants[from + i].reports)
                    pending_.emplace(report.observed_at,
                                     domain::Outcome{(*decisions)[i].id, "repaid", report.revision,
                                                     report.value, report.observed_at});
            }
        }
        std::vector<domain::Outcome> known;
        while (!pending_.empty() && pending_.begin()->first <= until) {
            known.push_back(pending_.begin()->second);
            pending_.erase(pending_.begin());
        }
        if (!known.empty()) {
            ASSERT_TRUE(node.decisions().submit_outcomes(known));
        }
        const auto status = node.advance(until);
        ASSERT_TRUE(status) << status.error().message;
    }
    void live(Node& node, TimePoint from, TimePoint to, Sends how) {
        for (auto t = from + Duration::days(7); t < to; t = t + Duration::days(7)) {
            live_a_week(node, t, how);
            if (HasFatalFailure()) return;
        }
        live_a_week(node, to, how);
    }

    /// What is refused by name before anything is served.
    void expect_refusals() const;
    /// What producers may send, and what not, at the begin of the second half.
    void expect_what_is_accepted(Node& node) const;
    /// Checks each certificate as the registry does, and with the checker; returns how many name
    /// two schemas.
    size_t verify_certificates(Node& node) const;
    /// Compares the first policy with the last one, which has other features, on what was decided
    /// under the old names and the new ones.
    void expect_comparison(Node& node) const;
    /// Replays all decisions, by what `rampart replay` calls.
    void expect_all_replay(Node& node) const;
    /// Replaces the node by one that has log, keys, registry and people of the store, as after a
    /// restore, and no joined state and index of decisions: it makes them anew from the log.
    void replace_node();
    /// What the node that was replaced did before holds at the new one.
    void expect_same_at_a_new_node(std::unique_ptr<Node> before);

    const fs::path folder_ =
        fs::path(testing::TempDir()) / fmt::format("schema_story.{}", ::getpid());
    loan_stream::Stream stream_;
    demo::Workspace workspace_;
    TimePoint half_;
    size_t decided_ = 0, replaced_ = 0;
    std::map<domain::PolicyId, size_t> by_policy_;
    std::multimap<TimePoint, domain::Outcome> pending_;
};

void SchemaStory::expect_refusals() const {
    const auto schema_now = read(schema());
    const auto with = [&](const std::string& part, const std::string& by) {
        auto text = schema_now;
        replace(text, part, by);
        return error_with(schema(), text);
    };
    const std::string numeric = "\nkind = \"numeric\"\n";
    EXPECT_THAT(with("[[feature]]\nname = \"score\"" + numeric, ""),
                HasSubstr("schema_not_carried: feature"));
    EXPECT_THAT(with("name = \"score\"" + numeric, "name = \"points\"" + numeric),
                HasSubstr("was = [\"score\"] on 'points'"));
    EXPECT_THAT(with("name = \"loan_amount\"" + numeric,
                     "name = \"loan_amount\"\nkind = \"categorical\"\ncategories = [\"1\"]\n"),
                HasSubstr("'loan_amount' was numeric, and is categorical"));
    EXPECT_THAT(with("\"own\", \"mortgage\"", "\"mortgage\""),
                HasSubstr("has lost its category 'own'"));
    EXPECT_THAT(error_with(schema(), schema_now + "[[feature]]\nname = \"x\"" + numeric),
                HasSubstr("'x' is new, and earlier applications lack it"));
    const auto product_file = workspace_.folder / "product.toml";
    const auto product = [&](const std::string& part, const std::string& by) {
        auto text = read(product_file);
        replace(text, part, by);
        return error_with(product_file, text);
    };
    EXPECT_THAT(product("favourable = 75\n", "favourable = 70\n"),
                HasSubstr("product_not_carried: impact.favourable of the product was '75', and is "
                          "'70'"));
    EXPECT_THAT(product("horizon_months = 6", "horizon_months = 7"),
                HasSubstr("label.horizon_months of the product was '6', and is '7'"));
    EXPECT_THAT(product("\"hispanic\", \"asian\"", "\"hispanic\""),
                HasSubstr("attribute.race of the product"));
    EXPECT_THAT(product("[400, 0.35]", "[400, 0.30]"), HasSubstr("bootstrap.points"));
}

void SchemaStory::expect_what_is_accepted(Node& node) const {
    const auto refusal = [&](const std::string& id, const std::string& name,
                             domain::FeatureValue value) {
        auto application = sent(stream_.applicants[decided_], Sends::kNew);
        application.id = domain::ApplicationId(id);
        application.features.push_back({name, std::move(value)});
        const auto decided = node.decisions().decide({&application, 1});
        return decided ? "" : decided.error().reason + ": " + decided.error().message;
    };
    EXPECT_THAT(refusal("both-names", kRenamed, 600.0),
                HasSubstr("duplicate_feature: '" + kNewName + "' and '" + kRenamed));
    EXPECT_THAT(refusal("unheard-of", "income", 1.0), HasSubstr("unknown_feature"));
    EXPECT_THAT(refusal("no-number", kRetired, std::string("twice")), HasSubstr("wrong_type"));
}

size_t SchemaStory::verify_certificates(Node& node) const {
    const auto key = folder_ / "gate.pub.pem";
    EXPECT_TRUE(base::write_file_atomically(key, node.keys().signing.public_key().to_pem()));
    const auto certificates = node.registry().certificates().value();
    size_t of_two = 0;
    for (const auto& one : certificates) {
        const auto file = node.registry().certificate_file(one.id).value();
        const auto certificate = folder_ / "one.cert", evidence = folder_ / "one.evidence.jsonl";
        EXPECT_TRUE(base::write_file_atomically(certificate, file));
        const auto lines =
            one.evidence ? node.registry().evidence_file(*one.evidence).value() : std::string();
        EXPECT_TRUE(base::write_file_atomically(evidence, lines));
        const auto verified = certification::verify(file, lines, node.keys().signing.public_key());
        EXPECT_TRUE(verified) << verified.error().message;
        if (one.evidence) {
            const auto checked = run_program(fmt::format(
                "{}/tools/certificate_checker/certificate_checker {} {} {}",
                test_support::source_dir(), key.string(), certificate.string(), evidence.string()));
            EXPECT_EQ(checked.exit_code, 0) << checked.output;
            EXPECT_THAT(checked.output, testing::Not(HasSubstr("REJECTED")));
        }
        const auto read =
            certification::read_certificate(file, node.keys().signing.public_key()).value();
        const auto& identity = read.plan.identity;
        const auto schema_of = [&](const std::string& id) {
            const auto model = node.registry().load_model(domain::PolicyId(id)).value();
            return model.policy.schema().digest().hex();
        };
        EXPECT_EQ(identity.feature_schema_id, schema_of(identity.candidate_id));
        const auto reference = schema_of(identity.reference_id);
        const bool same = reference == identity.feature_schema_id;
        EXPECT_EQ(identity.reference_schema_id, same ? "" : reference);
        of_two += same ? 0 : 1;
    }
    EXPECT_FALSE(certificates.empty());
    return of_two;
}

void SchemaStory::expect_comparison(Node& node) const {
    const auto models = node.registry().models().value();
    const auto &first = models.front().id, &last = models.back().id;
    EXPECT_FALSE(node.load_model(first).value().policy.schema().find(kNewName));
    EXPECT_TRUE(node.load_model(last).value().policy.schema().find(kNewName));
    const auto compared = [&](const domain::PolicyId& second, std::optional<TimePoint> from,
                              std::optional<TimePoint> to) {
        const auto report = compare_on_log(node, {first.value(), second.value(), from, to, 0.95});
        EXPECT_TRUE(report) << report.error().message;
        return report ? report->comparison.found.all.records : 0;
    };
    const auto before = compared(last, std::nullopt, half_), after = compared(last, half_, {});
    EXPECT_GT(before, 500u);
    EXPECT_GT(after, 500u);
    EXPECT_LE(compared(last, std::nullopt, std::nullopt), before + after);
    EXPECT_EQ(compared(first, std::nullopt, half_), before);
}

void SchemaStory::expect_all_replay(Node& node) const {
    const auto replayed = replay_decisions(node, {}).value();
    EXPECT_EQ(replayed.replayed, decided_);
    EXPECT_EQ(replayed.different, 0u) << replayed.differences.front();
    EXPECT_TRUE(replayed.failed.empty()) << replayed.first_failure;
}

void SchemaStory::replace_node() {
    const auto place = folder_ / fmt::format("node_{}", ++replaced_);
    fs::copy(workspace_.folder, place, fs::copy_options::recursive);
    const auto store = place / fs::relative(workspace_.store, workspace_.folder);
    ASSERT_GT(fs::remove_all(store / "partitions"), 0u);
    fs::remove_all(workspace_.folder);  // the machine is lost
    workspace_.config = place / workspace_.config.filename();
    workspace_.store = store;
    workspace_.folder = place;
}

void SchemaStory::expect_same_at_a_new_node(std::unique_ptr<Node> before) {
    const auto hash = before->state_hash().value();
    const auto set_of = [](Node& node) {
        const auto& settings = node.settings();
        return training_set::TrainingSetBuilder::create(
                   node.joiner(), settings.product, settings.schema, node.attributes(),
                   node.keys().split, settings.training.gate.late_attributes)
            .value()
            .development_rows(*node.joiner().clock())
            .value()
            .digest;
    };
    const auto rows = set_of(*before);
    const auto certified = verify_certificates(*before);
    const auto end = *before->joiner().clock();
    before.reset();
    replace_node();
    ASSERT_FALSE(HasFatalFailure());
    const auto node = opened();
    ASSERT_NE(node, nullptr);
    ASSERT_TRUE(node->advance(end));
    while (node->mend()) continue;  // the index of decisions
    EXPECT_EQ(node->state_hash().value(), hash);
    EXPECT_EQ(set_of(*node), rows) << "what is learnt from";
    EXPECT_EQ(verify_certificates(*node), certified);
    EXPECT_TRUE(node->registry().verify_audit());
    expect_all_replay(*node);
    expect_comparison(*node);
}

TEST_F(SchemaStory, FeaturesComeAndGoAndEveryDecisionReplaysAndEveryCertificateVerifies) {
    size_t first_models = 0;
    {
        const auto node = opened();
        ASSERT_NE(node, nullptr);
        live(*node, stream_.start, half_, Sends::kOld);
        ASSERT_FALSE(HasFatalFailure());
        first_models = node->registry().models().value().size();
        ASSERT_GT(first_models, 1u) << "candidates on the first schema";
    }
    expect_refusals();
    // the node that takes its place reads what was decided before by the new file alone
    replace_node();
    ASSERT_FALSE(HasFatalFailure());
    write_schema(changed_schema());
    auto node = opened();
    ASSERT_NE(node, nullptr);
    while (node->mend()) continue;
    expect_all_replay(*node);
    const auto entries = node->registry().audit_entries().value();
    const auto& entry = entries.back();
    EXPECT_EQ(entry.action, "declare_schema");
    std::vector<std::string> words;
    for (const auto& [name, text] : entry.details)
        if (name.starts_with("change_")) words.push_back(text);
    EXPECT_EQ(words.size(), 4u);
    EXPECT_THAT(words, Contains(HasSubstr("'score' is called 'bureau_score'")));
    EXPECT_THAT(words, Contains(HasSubstr("'late_payments_24m' is retired")));
    EXPECT_THAT(words, Contains(HasSubstr("'savings' is new")));
    EXPECT_EQ(entry.details.at("feature_schema"),
              node->settings().schema.features().digest().hex());

    // producers switch one after the other
    expect_what_is_accepted(*node);
    const auto switched = half_ + Duration::days(60);
    live(*node, half_, switched, Sends::kBoth);
    ASSERT_FALSE(HasFatalFailure());
    live(*node, switched, stream_.end, Sends::kNew);
    ASSERT_FALSE(HasFatalFailure());
    auto late = sent(stream_.applicants.back(), Sends::kOld);
    late.id = domain::ApplicationId("late");
    const auto refused = node->decisions().decide({&late, 1});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "feature_not_accepted");
    EXPECT_THAT(refused.error().message, HasSubstr("send 'bureau_score'"));

    // later candidates have all features, learn from the new one, and not from the retired one
    const auto models = node->registry().models().value();
    ASSERT_GT(models.size(), first_models);
    const auto grown = node->settings().schema.features();
    size_t of_new = 0;
    for (size_t i = first_models; i < models.size(); ++i) {
        const auto policy = node->registry().load_model(models[i].id).value().policy;
        if (!(policy.schema() == grown)) continue;
        ++of_new;
        for (const auto& tree : policy.last_learned()->ensemble.trees)
            for (const auto& one : tree.nodes)
                EXPECT_NE(one.feature, static_cast<int32_t>(*grown.find(kRetired)));
    }
    EXPECT_GE(of_new, 2u);
    EXPECT_GE(verify_certificates(*node), 1u) << "candidate and champion of two schemas";
    EXPECT_TRUE(node->monitor_report());
    EXPECT_TRUE(node->registry().verify_audit());
    expect_comparison(*node);
    expect_all_replay(*node);
    expect_same_at_a_new_node(std::move(node));
}

}  // namespace
}  // namespace rampart::rampartd
