#pragma once

/// Commands about policies that decide beside the champion.
namespace rampart::cli {

class Frame;

void add_challenger_start(Frame& frame);
void add_challenger_end(Frame& frame);
void add_challenger_list(Frame& frame);

}  // namespace rampart::cli
