#pragma once

#include <CLI/CLI.hpp>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/learning/learner.hpp"

/// Flags of the learners' options, made from how the learners declare them.
namespace rampart::cli {

/// Returns the flag of an option: "--learning-rate" of "learning_rate"; some have a name of their
/// own: "--constraint" of "constraints".
std::string flag_of(std::string_view option);

/// A flag for each option that some learner has. All are parsed, whichever the learner, so that
/// those without effect can be named.
class LearnerFlags {
  public:
    /// Adds the flags of the learners' options to the command. `others`: options that the command
    /// has flags of its own for.
    LearnerFlags(CLI::App& command, std::vector<const learning::Learner*> learners,
                 const std::vector<std::string_view>& others);

    /// Returns the learner's options with what was given. Errors: bad_option, by the flag.
    base::Result<learning::OptionValues> values(const learning::Learner& learner) const;
    /// Returns which given flags have no effect on a training with the values, and why. `used`:
    /// options that have one all the same.
    std::vector<std::string> ineffective(const learning::OptionValues& values,
                                         const std::vector<std::string_view>& used) const;
    /// Returns the names of the learners that have an option.
    std::vector<std::string> owners(std::string_view option) const;
    /// Returns the flags that were given.
    std::vector<std::string> given() const;

    /// Shows in the help the flags of one learner or, with nullptr, those that all learners have;
    /// the others are hidden.
    void show(const learning::Learner* learner);

  private:
    struct Flag {
        std::string_view option;
        CLI::Option* flag = nullptr;
        std::string text = {};
        std::vector<std::string> texts = {};
        bool on = false;
    };
    void add(CLI::App& command, const learning::Option& option);
    std::vector<const learning::Learner*> learners_;
    std::deque<Flag> flags_;  // addresses stay, as CLI11 keeps them
};

/// Replaces options named in backticks by their flags: "`zeta` is missing" by "--zeta is missing".
std::string with_flags(std::string text, const learning::Learner& learner);

}  // namespace rampart::cli
