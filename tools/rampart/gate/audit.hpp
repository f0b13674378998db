#pragma once

namespace rampart::cli {

class Frame;

void add_audit_list(Frame& frame);
void add_audit_show(Frame& frame);
void add_audit_verify(Frame& frame);
void add_audit_export(Frame& frame);

}  // namespace rampart::cli
