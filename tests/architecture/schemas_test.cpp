#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include "source_tree.hpp"

/// Field numbers are never reused and types never change: what was written years ago has to be
/// read.
namespace rampart::architecture {
namespace {

namespace pb = google::protobuf;

void list_message(const pb::Descriptor& message, std::set<std::string>& out) {
    for (int i = 0; i < message.field_count(); ++i) {
        const auto& field = *message.field(i);
        std::string type = field.type_name();
        if (field.message_type() != nullptr) type = field.message_type()->full_name();
        if (field.enum_type() != nullptr) type = field.enum_type()->full_name();
        const char* label = field.is_repeated()    ? "repeated "
                            : field.has_presence() ? "optional "
                                                   : "";
        out.insert(message.full_name() + " " + std::to_string(field.number()) + " " + label + type +
                   " " + field.name());
    }
    for (int i = 0; i < message.nested_type_count(); ++i)
        list_message(*message.nested_type(i), out);
}

/// One line a field ("message number type name") and a value of an enum.
std::set<std::string> declared_fields() {
    pb::FileDescriptorSet files;
    EXPECT_TRUE(files.ParseFromString(read_text(written_by_cmake() / "descriptors.bin")));
    pb::DescriptorPool pool;  // protoc lists a file after those that it imports
    std::set<std::string> fields;
    for (const auto& file : files.file()) {
        const auto* parsed = pool.BuildFile(file);
        if (parsed == nullptr) {
            ADD_FAILURE() << file.name() << " is no valid schema";
            continue;
        }
        for (int i = 0; i < parsed->message_type_count(); ++i) {
            list_message(*parsed->message_type(i), fields);
        }
        for (int i = 0; i < parsed->enum_type_count(); ++i) {
            const auto& type = *parsed->enum_type(i);
            for (int v = 0; v < type.value_count(); ++v) {
                fields.insert(type.full_name() + " " + std::to_string(type.value(v)->number()) +
                              " value " + type.value(v)->name());
            }
        }
    }
    return fields;
}

TEST(Schemas, NoFieldWasChangedOrDropped) {
    const auto declared = declared_fields();
    for (const auto& line : lines_of(read_source("tests/golden/fields.txt"))) {
        EXPECT_TRUE(declared.contains(line)) << "released as '" << line << "'; keep it as it was";
    }
}

TEST(Schemas, EveryFieldIsInTheListOfReleasedOnes) {
    const auto lines = lines_of(read_source("tests/golden/fields.txt"));
    const std::set<std::string> released(lines.begin(), lines.end());
    for (const auto& line : declared_fields()) {
        EXPECT_TRUE(released.contains(line))
            << "new: add the line '" << line << "' to tests/golden/fields.txt";
    }
}

}  // namespace
}  // namespace rampart::architecture
