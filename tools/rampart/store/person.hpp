#pragma once

#include "frame/frame.hpp"

/// The command on a person's record.
namespace rampart::cli {

void add_person_export(Frame& frame);

}  // namespace rampart::cli
