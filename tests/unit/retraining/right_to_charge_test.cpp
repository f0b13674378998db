// A run charges only with the right to: another store of the group may train meanwhile.
#include <gtest/gtest.h>

#include "loop_over_loans.hpp"

namespace rampart::retraining {
namespace {

class RightToCharge : public test::LoopOverLoans {
  protected:
    std::unique_ptr<TrainingLoop> open(std::function<base::Status()> may_charge) {
        TrainerDeps deps{
            node_.product, *node_.joiner,          *node_.builder, *node_.registry,
            key_,          "a secret of 16 bytes", nullptr,        certification::KeyIds{}};
        deps.may_charge = std::move(may_charge);
        return TrainingLoop::open(node_.folder() / "trainer", settings_, std::move(deps)).value();
    }
    size_t charges() const { return node_.registry->ledger_entries().value().size(); }
};

TEST_F(RightToCharge, WithoutItTheRunIsLeftWithoutAChargeAndGoesOnUnderItsNumber) {
    int asked = 0;
    {
        const auto loop = open([&asked] {
            ++asked;
            return base::Status(
                base::Error{base::ErrorCode::kUnavailable, "trainer_elsewhere", "another store"});
        });
        const auto left = loop->run_at(support::day(test::kNow));
        ASSERT_FALSE(left);
        EXPECT_EQ(left.error().reason, "training_stopped");
        EXPECT_NE(left.error().message.find("another store"), std::string::npos);
        EXPECT_EQ(asked, 1);
        EXPECT_EQ(charges(), 0u);
        EXPECT_TRUE(loop->runs().value().empty());
    }
    const auto loop = open([&] {
        ++asked;
        EXPECT_EQ(charges(), 0u) << "it is asked before";
        return base::ok();
    });
    ASSERT_TRUE(loop->finish_started());
    const auto runs = loop->runs().value();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs.front().ordinal, 1u);
    EXPECT_EQ(asked, 2);
    EXPECT_GT(charges(), 0u) << runs.front().message;
}

}  // namespace
}  // namespace rampart::retraining
