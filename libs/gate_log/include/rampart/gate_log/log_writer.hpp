#pragma once

#include <string>

#include "rampart/gate/gate.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::gate_log {

/// What to write of a log.
struct LogContent {
    bool development = true, vault = false;  // sides
    bool pair = false;                       // P(approve) by candidate and reference
};

struct LogFiles {
    std::string log;       // CSV, as read_decisions() reads it
    std::string settings;  // [impact], [groups] and [erased] of its gate.toml, for read_settings()
};

/// Writes the records that the gate reads of both sides, in their order, with numbers that read
/// back to the same doubles. Columns are those of read_decisions() and
///     weight      1/p of the drawn action, on the development side
///     x.NAME      features, unless the pair is written; a category by its text
/// `development`: the set that the log was made with. Errors: invalid_argument
/// "attribute_column": an attribute has the name of another column.
base::Result<LogFiles> write_log(const gate::TestedLog& log,
                                 const training_set::DevelopmentSet& development,
                                 const LogContent& content);

}  // namespace rampart::gate_log
