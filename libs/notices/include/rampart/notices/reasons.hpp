#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::notices {

#define RAMPART_NOTICES_REASONS(X)                                                              \
    X(kBadTemplate, kInvalidArgument, "bad_template",                                           \
      "Correct the letter's template: the message has the line; the names that it may have "    \
      "are in ops/runbooks/letters.md.")                                                        \
    X(kBadWords, kInvalidArgument, "bad_words",                                                 \
      "Correct the file of words; `rampart reasons check` lists all that is wrong with it.")    \
    X(kDecisionPending, kFailedPrecondition, "decision_pending",                                \
      "Wait until people have answered the referral by an override; the lender's time for the " \
      "answer goes on meanwhile.")                                                              \
    X(kNeverCited, kFailedPrecondition, "never_cited",                                          \
      "Let people write this letter: a principal reason may not be left out of it. Then train " \
      "without the feature, or take it off the never_cite list.")                               \
    X(kNoAdverseAction, kFailedPrecondition, "no_adverse_action",                               \
      "Ask for notices of declines only.")                                                      \
    X(kNoSpecificReason, kFailedPrecondition, "no_specific_reason",                             \
      "Let people who look at the application write this letter; promote a policy whose "       \
      "declines have reasons, so that there are no further ones (ops/runbooks/letters.md).")    \
    X(kNoWords, kFailedPrecondition, "no_words",                                                \
      "Add words for it to the file of words, and check that with `rampart reasons check`.")    \
    X(kUnknownCode, kFailedPrecondition, "unknown_code",                                        \
      "Upgrade this node: the decision has a reason that this release does not know.")          \
    X(kUnknownLanguage, kInvalidArgument, "unknown_language",                                   \
      "Ask for a language that the message lists, or add it to the file of words.")
RAMPART_REASONS("notices", RAMPART_NOTICES_REASONS)

}  // namespace rampart::notices
