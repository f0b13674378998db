#pragma once

/// Commands about certified policies that wait for people.
namespace rampart::cli {

class Frame;

void add_proposal_list(Frame& frame);
void add_proposal_show(Frame& frame);
void add_proposal_approve(Frame& frame);
void add_proposal_reject(Frame& frame);

}  // namespace rampart::cli
