#pragma once

#include "frame/frame.hpp"

namespace rampart::cli {

// The commands of `rampart keys`.
void add_keys_list(Frame& frame);
void add_keys_export(Frame& frame);
void add_keys_import(Frame& frame);
void add_keys_rotate(Frame& frame);

}  // namespace rampart::cli
