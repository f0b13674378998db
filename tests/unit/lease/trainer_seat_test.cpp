#include "rampart/lease/trainer_seat.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "rampart/base/file.hpp"

namespace rampart::lease {
namespace {

const Turn kThird{3, std::string(16, 'a')}, kFourth{4, std::string(16, '\0')};

TEST(TrainerSeat, IsStoredAndReadBack) {
    for (const bool handed_over : {false, true}) {
        for (const TrainerSeat& seat : {TrainerSeat{}, TrainerSeat{kThird, {}},
                                        TrainerSeat{{}, kFourth}, TrainerSeat{kThird, kFourth}}) {
            auto one = seat;
            one.handed_over = handed_over;
            EXPECT_EQ(decode_seat(encode(one)).value(), one);
        }
    }
}

TEST(TrainerSeat, HasTheTextThatTheKeysPageSays) {
    EXPECT_EQ(encode({kThird, kFourth, true}),
              "rampart trainer seat 1\n"
              "held 3 61616161616161616161616161616161\n"
              "claimed 4 00000000000000000000000000000000\n"
              "handed over\n");
}

TEST(TrainerSeat, OtherTextIsNone) {
    const auto good = encode({kThird, kFourth, true});
    for (size_t n = 0; n < good.size(); ++n) {
        const auto cut = decode_seat(good.substr(0, n));
        if (cut) {
            EXPECT_EQ(encode(*cut), good.substr(0, n)) << n;
        }  // at the end of a line
        auto bent = good;
        bent[n] = static_cast<char>(bent[n] ^ 1);
        const auto other = decode_seat(bent);
        if (other) {
            EXPECT_EQ(encode(*other), bent) << n;
        }
        EXPECT_NE(other ? encode(*other) : "", good) << n;
    }
    const std::string first = "rampart trainer seat 1\n";
    for (const std::string bad :
         {"", "held", "held ", "held 3", "held 3 \n", "held 0 61616161616161616161616161616161\n",
          "held 03 61616161616161616161616161616161\n", "held 3 6161\n", "held 3\n 61\n",
          "handed over", "handed over\nheld 3 61616161616161616161616161616161\n",
          "held 99999999999999999999 61616161616161616161616161616161\n"}) {
        EXPECT_EQ(decode_seat(bad).error().reason, "bad_seat") << bad;
        if (!bad.empty()) {
            EXPECT_EQ(decode_seat(first + bad).error().reason, "bad_seat") << bad;
        }
    }
    EXPECT_TRUE(decode_seat(first));
}

TEST(TrainerSeat, BothTurnsAreTheStoresOwnAndNoOther) {
    const TrainerSeat seat{kThird, kFourth};
    EXPECT_TRUE(seat.is_own(kThird));
    EXPECT_TRUE(seat.is_own(kFourth));
    EXPECT_FALSE(seat.is_own({4, kThird.session}));
    EXPECT_FALSE(TrainerSeat().is_own(kThird));
    EXPECT_EQ(seat.latest(), 4u);
    EXPECT_EQ(TrainerSeat().latest(), 0u);
}

TEST(TrainerSeat, AFileThatIsNotThereIsAnEmptySeatAndADamagedOneIsNone) {
    const auto file =
        std::filesystem::path(testing::TempDir()) / fmt::format("trainer_seat_test.{}", ::getpid());
    EXPECT_EQ(read_seat(file).value(), TrainerSeat());
    EXPECT_TRUE(check_not_handed_over(file));
    ASSERT_TRUE(write_seat(file, {kThird, {}, true}));
    EXPECT_EQ(read_seat(file).value(), (TrainerSeat{kThird, {}, true}));
    EXPECT_EQ(check_not_handed_over(file).error().reason, "trainer_handed_over");
    ASSERT_TRUE(base::write_file_atomically(file, "held\n"));
    EXPECT_EQ(read_seat(file).error().reason, "bad_seat");
    std::filesystem::remove(file);
}

}  // namespace
}  // namespace rampart::lease
