// The schema files of two nodes on one log: the node that trains says by which terms applications
// count, and no other decides by others.
#include <gmock/gmock.h>

#include "two_nodes.hpp"

namespace rampart::rampartd {
namespace {

using testing::HasSubstr;

class SchemaOfNodes : public TwoNodes {
  protected:
    /// Changes the schema file of a node, and returns its configuration.
    Settings changed(Settings settings, const std::string& part, const std::string& by,
                     const std::string& more = "") const {
        const auto folder = settings.store.parent_path();
        auto text = base::read_file(folder / "schema.toml", 1 << 20).value();
        const auto at = text.find(part);
        EXPECT_NE(at, std::string::npos) << part;
        text.replace(at, part.size(), by);
        EXPECT_TRUE(base::write_file_atomically(folder / "schema.toml", text + more));
        auto loaded = load_settings(folder / "rampartd.toml");
        EXPECT_TRUE(loaded) << loaded.error().message;
        return *std::move(loaded);
    }
    /// The file in which an application without its score counts as `points`.
    Settings with_default(Settings settings, int points) const {
        return changed(std::move(settings), kScore, kScore + fmt::format("default = {}\n", points));
    }
    /// The file in which the score has another name.
    Settings renamed(Settings settings) const {
        return changed(std::move(settings), kScore,
                       "name = \"bureau_score\"\nkind = \"numeric\"\nwas = [\"score\"]\n"
                       "accepted_until = \"2060-01-01\"\n");
    }
    /// Returns the first application that the node decides.
    Application application_of(Node& node) const {
        const bool first = node.settings().log.node == "first";
        for (const auto& one : applications())
            if ((node.decisions().partition_of(one.id).value() < 2) == first) return one;
        ADD_FAILURE() << "there is none";
        return {};
    }
    /// Returns the application by another id, which the second node decides, too.
    static Application again(Node& node, Application application) {
        std::string id = application.id.value() + "-again";
        while (node.decisions().partition_of(domain::ApplicationId(id)).value() < 2) id += "x";
        application.id = domain::ApplicationId(id);
        return application;
    }
    /// Returns the application with the new name of its score.
    static Application by_new_name(Application application) {
        for (auto& feature : application.features)
            if (feature.name == "score") feature.name = "bureau_score";
        return application;
    }
    /// Returns whether a check of /readyz is ok, as /metrics say.
    static bool ok(Node& node, std::string_view check) {
        http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
        node.add_routes(router);
        http::Request request;
        request.method = "GET";
        request.headers = {{"Authorization", "Bearer t"}};
        request.path = "/metrics";
        const auto metrics = router.handle(request).body;
        const auto line = fmt::format("rampart_check_ok{{check=\"{}\"}} ", check);
        const auto at = metrics.find(line);
        EXPECT_NE(at, std::string::npos) << line;
        return at != std::string::npos && metrics[at + line.size()] == '1';
    }
    /// Returns what the trainer reads at `t` and its schema file does not explain, of both sides.
    static training_set::Unexplained set_aside(Node& node, base::TimePoint t) {
        const auto builder = training_set::TrainingSetBuilder::create(
                                 node.joiner(), node.settings().product, node.settings().schema,
                                 node.attributes(), node.keys().split)
                                 .value();
        return builder.development_rows(t).value().unexplained;
    }
    static const inline std::string kScore = "name = \"score\"\nkind = \"numeric\"\n";
};

TEST_F(SchemaOfNodes, ADefaultThatIsAnotherAtOneOfThemIsNoticedAndNothingIsDecidedByIt) {
    const auto a = open(with_default(first(), 600));
    {
        const auto b = open(with_default(second(), 650));
        const auto refused = decide(*b, application_of(*b));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().reason, "no_policy");
        EXPECT_FALSE(ok(*b, "champion")) << "which the alert RampartCheckFails is about";
        EXPECT_FALSE(ok(*b, "decision_service"));
        EXPECT_TRUE(decide(*a, application_of(*a))) << "the other decides on";
        ASSERT_TRUE(b->release());
    }
    const auto b = open(with_default(second(), 600));  // the mistake was not put on record
    EXPECT_TRUE(ok(*b, "champion"));
    EXPECT_TRUE(decide(*b, application_of(*b)));
}

TEST_F(SchemaOfNodes, ChangeOneAfterTheOtherTheNodeThatTrainsFirst) {
    const auto config_a = first(), config_b = second();
    auto a = open(config_a), b = open(config_b);
    const auto one = application_of(*b);
    ASSERT_TRUE(decide(*b, one));
    ASSERT_TRUE(a->release());
    a.reset();
    a = open(renamed(config_a));
    ASSERT_TRUE(b->advance(one.event_time));
    EXPECT_TRUE(ok(*b, "champion")) << "it has the earlier file";
    const auto next = again(*b, one);
    const auto under_old_name = decide(*b, next);
    ASSERT_TRUE(under_old_name) << under_old_name.error().message;
    ASSERT_TRUE(b->release());
    b.reset();
    b = open(renamed(config_b));
    EXPECT_TRUE(ok(*b, "champion"));
    const auto under_new_name = decide(*b, by_new_name(again(*b, next)));
    ASSERT_TRUE(under_new_name) << under_new_name.error().message;
    EXPECT_EQ(under_new_name->policy, under_old_name->policy);
    EXPECT_EQ(under_new_name->p_approve, under_old_name->p_approve);
}

TEST_F(SchemaOfNodes, ANodeThatIsBeforeTheOneThatTrainsWaitsForIt) {
    const auto config_a = first();
    auto a = open(config_a);
    const auto b = open(renamed(second()));
    EXPECT_FALSE(ok(*b, "champion"));
    EXPECT_EQ(decide(*b, application_of(*b)).error().reason, "no_policy");
    ASSERT_TRUE(a->release());
    a.reset();
    a = open(renamed(config_a));
    const auto one = application_of(*b);
    ASSERT_TRUE(b->advance(one.event_time));
    EXPECT_TRUE(ok(*b, "champion"));
    EXPECT_TRUE(decide(*b, by_new_name(one))) << "without a start";
}

TEST_F(SchemaOfNodes, AMistakeIsNotOnRecordBeforeTheNodeThatTrainsHasSaidItsFile) {
    auto alone = with_default(second(), 650);
    alone.gate_key = folder_ / "none.pem";
    ASSERT_TRUE(base::write_file_atomically(alone.gate_key,
                                            base::SigningKey::generate().public_key().to_pem()));
    auto b = open(alone);
    ASSERT_TRUE(decide(*b, application_of(*b)));
    ASSERT_TRUE(b->release());
    b.reset();
    const auto a = open(with_default(first(), 600));
    b = open(with_default(second(), 600));  // put right
    EXPECT_TRUE(ok(*b, "champion"));
    EXPECT_TRUE(decide(*b, again(*b, application_of(*b))));
}

TEST_F(SchemaOfNodes, ATrainerWithTheEarlierFileSetsAsideWhatItCannotReadUntilItHasTheFile) {
    // before there is a node that trains, none says by which file
    const auto later = renamed(second());
    auto alone = later;
    alone.gate_key = folder_ / "none.pem";
    ASSERT_TRUE(base::write_file_atomically(alone.gate_key,
                                            base::SigningKey::generate().public_key().to_pem()));
    auto b = open(alone);
    const auto one = by_new_name(application_of(*b));
    ASSERT_TRUE(decide(*b, one));
    ASSERT_TRUE(b->release());
    b.reset();
    const auto end = base::add_months(stream_.applicants.back().application.event_time, 36);
    const auto config_a = first();
    auto a = open(config_a);
    ASSERT_TRUE(a->advance(end)) << "one record does not stop the loop";
    const auto aside = set_aside(*a, end);
    EXPECT_EQ(aside.decisions, 1u);
    EXPECT_THAT(aside.why, HasSubstr("it has feature 'bureau_score', which the schema file of "
                                     "this node does not have"));
    b = open(later);
    EXPECT_FALSE(ok(*b, "champion")) << "nor does the other go on";
    ASSERT_TRUE(a->release());
    a.reset();
    a = open(renamed(config_a));
    ASSERT_TRUE(b->advance(one.event_time));
    EXPECT_TRUE(ok(*b, "champion"));
    ASSERT_TRUE(a->advance(end));
    EXPECT_EQ(set_aside(*a, end).decisions, 0u) << "nothing is lost";
}

TEST_F(SchemaOfNodes, AStoreThatTrainsAgainFromABackupHasTheFileThatTheOthersHave) {
    const auto config = first();
    const auto registry = config.store / "registry", backup = folder_ / "backup";
    auto a = open(config);
    ASSERT_TRUE(a->release());
    a.reset();
    fs::copy(registry, backup, fs::copy_options::recursive);
    const auto later = renamed(config);
    a = open(later);
    ASSERT_TRUE(a->release());
    a.reset();
    fs::remove_all(registry);
    fs::copy(backup, registry, fs::copy_options::recursive);
    // as far as the store knows it has this file still, and others decide by the later one
    const auto refused = Node::open(config);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "schema_not_carried");
    EXPECT_THAT(refused.error().message, HasSubstr("the node that trained before said (epoch 2)"));
    EXPECT_THAT(refused.error().message, HasSubstr("'bureau_score' is not there"));
    a = open(later);
    EXPECT_TRUE(a->check_trains());
}

}  // namespace
}  // namespace rampart::rampartd
