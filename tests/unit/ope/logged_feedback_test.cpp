#include "rampart/ope/logged_feedback.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "rampart/base/limits.hpp"

namespace rampart::ope {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();

LoggedFeedback two_records() {
    LoggedFeedback f;
    f.decisions = {.record_id = {"d1", "d2"},
                   .unit_id = {"anna", "bert"},
                   .p_approve = {0.5, 0.2},
                   .approved = {1, 0},
                   .has_impact = {1, 0},
                   .candidate = {0.6, 0.1},
                   .reference = {0.5, 0.2},
                   .logger = {0, 0},
                   .logger_ids = {"first"},
                   .groups = {{"all", {0, 1}}}};
    f.impact = {75, kNan};
    return f;
}

std::string reason_after(const std::function<void(LoggedFeedback&)>& change) {
    LoggedFeedback f = two_records();
    change(f);
    const auto status = validate(f);
    return status ? "" : status.error().reason;
}

TEST(LoggedFeedback, AConsistentLogIsAccepted) { EXPECT_TRUE(validate(two_records())); }

TEST(LoggedFeedback, AnActionLoggedAsImpossibleMeansThatTheLogIsWrong) {
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.p_approve[0] = 0; }), "bad_propensity");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.p_approve[1] = 1; }), "bad_propensity");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.p_approve[1] = 0; }), "")
        << "declined for certain";
}

TEST(LoggedFeedback, ProbabilitiesOutsideTheUnitIntervalAreNamed) {
    for (const double p : {-0.1, 1.1, kNan}) {
        EXPECT_EQ(reason_after([p](auto& f) { f.decisions.p_approve[0] = p; }), "bad_probability");
        EXPECT_EQ(reason_after([p](auto& f) { f.decisions.candidate[0] = p; }), "bad_probability");
        EXPECT_EQ(reason_after([p](auto& f) { f.decisions.reference[1] = p; }), "bad_probability");
    }
    LoggedFeedback f = two_records();
    f.decisions.candidate[0] = 1.5;
    EXPECT_NE(validate(f).error().message.find("d1"), std::string::npos);
    EXPECT_NE(validate(f).error().message.find("1.5"), std::string::npos);
}

TEST(LoggedFeedback, ErasedRecordsAreCountedForEachGroupAndAsAWhole) {
    const auto with = [](size_t records, std::vector<size_t> of_group) {
        return reason_after([&](auto& f) { f.decisions.erased = {records, of_group}; });
    };
    EXPECT_EQ(with(3, {2}), "");
    EXPECT_EQ(with(3, {4}), "bad_shape");
    EXPECT_EQ(with(3, {}), "bad_shape");
    EXPECT_EQ(with(0, {0}), "bad_shape");
    EXPECT_EQ(with(base::limits::kMaxRows + 1, {0}), "too_many_records");
    const auto unreadable = [](size_t records, size_t of_group, size_t parts) {
        return reason_after([&](auto& f) { f.decisions.erased = {records, {of_group}, 0, parts}; });
    };
    EXPECT_EQ(unreadable(3, 2, 2), "");
    EXPECT_EQ(unreadable(3, 1, 2), "bad_shape") << "each may be of every group";
    EXPECT_EQ((ErasedCounts{3, {2}}.in_group(0)), 2u);
    EXPECT_EQ((ErasedCounts{3, {}}.in_group(0)), 3u) << "in whatever group";
}

TEST(LoggedFeedback, CentresAreForAllRecordsOrNone) {
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.control_variates = {{1, 2}, {3, 4}}; }), "");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.control_variates = {{1, 2}}; }), "bad_shape");
    EXPECT_EQ(reason_after([](auto& f) {
                  f.decisions.control_variates = {{1, 2}, {kNan, 4}};
              }),
              "bad_centre");
    EXPECT_EQ(reason_after([](auto& f) {
                  f.decisions.control_variates = {{1, 2}, {3, -INFINITY}};
              }),
              "bad_centre");
}

TEST(LoggedFeedback, EveryColumnMustHaveEveryRecord) {
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.unit_id.pop_back(); }), "bad_shape");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.candidate.push_back(0.5); }), "bad_shape");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.logger.clear(); }), "bad_shape");
    EXPECT_EQ(reason_after([](auto& f) { f.impact.pop_back(); }), "bad_shape");
}

TEST(LoggedFeedback, ADuplicateIdIsRefused) {
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.record_id[1] = "d1"; }), "duplicate_record");
}

TEST(LoggedFeedback, IdsHaveALimit) {
    const size_t limit = base::limits::kMaxIdBytes;
    EXPECT_EQ(reason_after([&](auto& f) { f.decisions.record_id[1] = std::string(limit, 'x'); }),
              "");
    EXPECT_EQ(
        reason_after([&](auto& f) { f.decisions.record_id[1] = std::string(limit + 1, 'x'); }),
        "bad_record_id");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.unit_id[1] = ""; }), "bad_unit_id");
}

TEST(LoggedFeedback, FlagsLoggersAndGroupsAreChecked) {
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.approved[0] = 2; }), "bad_flag");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.logger[0] = 1; }), "bad_logger");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.groups[0].records = {1, 0}; }), "bad_group");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.groups[0].records = {0, 0}; }), "bad_group");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.groups[0].records = {2}; }), "bad_group");
    EXPECT_EQ(reason_after([](auto& f) {
                  f.decisions.groups.push_back({"all", {}});
              }),
              "bad_group");
    EXPECT_EQ(reason_after([](auto& f) {
                  for (size_t i = 0; i < base::limits::kMaxGroups; ++i) {
                      f.decisions.groups.push_back({std::to_string(i), {}});
                  }
              }),
              "too_many_groups");
}

TEST(LoggedFeedback, OverriddenPositionsAscendAndTurnWhatWasDrawnRound) {
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.overridden = {0, 1}; }), "");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.overridden = {1, 0}; }), "bad_overridden");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.overridden = {1, 1}; }), "bad_overridden");
    EXPECT_EQ(reason_after([](auto& f) { f.decisions.overridden = {2}; }), "bad_overridden");
    LoggedFeedback f = two_records();
    EXPECT_TRUE(f.decisions.granted(0));
    EXPECT_FALSE(f.decisions.granted(1));
    f.decisions.overridden = {1};
    EXPECT_TRUE(f.decisions.granted(0));
    EXPECT_TRUE(f.decisions.granted(1));
}

TEST(LoggedFeedback, AnImpactIsThereIffItIsSaidToBe) {
    EXPECT_EQ(reason_after([](auto& f) { f.impact[0] = kNan; }), "bad_impact");
    EXPECT_EQ(reason_after([](auto& f) { f.impact[1] = 3; }), "bad_impact");
    EXPECT_EQ(reason_after([](auto& f) { f.impact[0] = std::numeric_limits<double>::infinity(); }),
              "bad_impact");
}

}  // namespace
}  // namespace rampart::ope
