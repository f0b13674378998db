#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cpp_scanner.hpp"
#include "source_tree.hpp"

/// Two definitions of one name in one namespace make a program undefined wherever both are linked:
/// the linker keeps one of each pair of inline functions, and gives no message.
namespace rampart::architecture {
namespace {

using Texts = std::map<std::string, std::string>;  // file -> its text

struct Definitions {
    std::map<std::string, std::set<std::string>> files_of;  // name -> files that define it
    /// unnamed namespaces in headers, files that the scanner does not understand
    std::vector<std::string> faults;
};

void add(Definitions& all, const std::string& file, const std::string& text) {
    const Scan found = scan(text);
    if (!found.balanced) all.faults.push_back(file + ": its braces do not match");
    if (found.unnamed_namespace && file.ends_with(".hpp"))
        all.faults.push_back(file + ": a header has an unnamed namespace");
    for (const auto& definition : found.definitions) {
        // members are defined where their type is, and each program has a main
        if (definition.internal || definition.in_type || definition.specialisation) continue;
        if (definition.name != "main")
            all.files_of[definition.name + definition.parameters].insert(file);
    }
}

/// One sentence for each fault.
std::vector<std::string> faults_of(const Definitions& all) {
    auto faults = all.faults;
    for (const auto& [name, files] : all.files_of)
        if (files.size() > 1)
            faults.push_back(name + " is defined in " + testing::PrintToString(files) +
                             ": give one of them another name or namespace");
    return faults;
}

Definitions definitions_in(const Texts& files) {
    Definitions all;
    for (const auto& [file, text] : files) add(all, file, text);
    return all;
}

Texts texts_in(const std::vector<std::string>& folders) {
    Texts texts;
    for (const auto& folder : folders)
        for (const auto& file : source_files(folder)) texts[file.string()] = read_source(file);
    return texts;
}

TEST(OneDefinition, ANameHasOneDefinitionInTheWholeProgram) {
    const auto texts = texts_in({"libs", "services", "tools"});
    ASSERT_GT(texts.size(), 500u);
    EXPECT_THAT(faults_of(definitions_in(texts)), testing::IsEmpty());
}

// Tests of one folder are linked together, with what they test.
TEST(OneDefinition, ANameHasOneDefinitionInEachFolderOfTestsToo) {
    const auto product = definitions_in(texts_in({"libs", "services", "tools", "tests/support"}));
    std::map<std::string, Texts> folders;
    for (const auto& [file, text] : texts_in({"tests"}))
        folders[fs::path(file).parent_path().string()][file] = text;
    EXPECT_GT(folders.size(), 20u);
    folders.erase("tests/fuzz");  // a program each
    for (const auto& [folder, texts] : folders) {
        if (folder == "tests/support" || folder.starts_with("tests/architecture/planted")) continue;
        auto all = definitions_in(texts);
        for (auto& [name, files] : all.files_of)
            if (const auto found = product.files_of.find(name); found != product.files_of.end())
                files.insert(found->second.begin(), found->second.end());
        EXPECT_THAT(faults_of(all), testing::IsEmpty()) << folder;
    }
}

std::vector<std::string> names_in(const std::string& text, bool visible_only = true) {
    std::vector<std::string> names;
    for (const auto& found : scan(text).definitions)
        if (!visible_only || !(found.internal || found.in_type || found.specialisation))
            names.push_back(found.name + found.parameters);
    return names;
}

TEST(OneDefinition, TheScannerSeesTypes) {
    EXPECT_THAT(names_in(R"x(
        #define OPEN {
        namespace a::b {
        struct Plain { int x = 0; struct Inner {}; };
        struct Declared;
        class [[nodiscard]] Marked : public Plain {};
        template <class T, class U = std::vector<T>> class Of final {};
        template <> struct Of<int> { };
        enum class Word : uint8_t { kOne };
        struct Plain make(struct Plain p) { struct Local {}; return p; }
        namespace { struct Hidden {}; }
        }
        extern "C" { union Foreign { int i; }; }
        // struct Comment {};
    )x"),
                testing::ElementsAre("a::b::Plain", "a::b::Marked", "a::b::Of", "a::b::Word",
                                     "a::b::make(struct Plain)", "Foreign"));
}

TEST(OneDefinition, TheScannerSeesFunctionsByTheTypesOfTheirParameters) {
    EXPECT_THAT(names_in(R"x(
        namespace a {
        inline double mean(std::span<const double> values, size_t n = 3) { return values[n]; }
        template <class T> T mean(const std::map<T, std::vector<T>>&, unsigned char) { return {}; }
        double mean(double);
        Owner::Owner(int x) : Base(x), x_{x}, f_([] { return 1; }) { start(); }
        Owner::~Owner() { stop(); }
        Result<std::vector<int>> Owner::find(const Key& key) const { return at(key); }
        bool operator==(const Key& a, const Key& b) { return a.x == b.x; }
        std::unique_ptr<Impl, void (*)(Impl*)> make() { return {nullptr, [](Impl*) {}}; }
        static int only_here() { return 1; }
        namespace { int nor_here() { return 1; } }
        inline constexpr int kLimit = 3;
        constexpr int kOfThisFile = 3;
        const std::vector<int> kTable{1, 2};
        }
    )x"),
                testing::ElementsAre(
                    "a::mean(std::span<const double>,size_t)",
                    "a::mean(const std::map<T,std::vector<T>>&,unsigned char)",
                    "a::Owner::Owner(int)", "a::Owner::~Owner()", "a::Owner::find(const Key&)const",
                    "a::operator==(const Key&,const Key&)", "a::make()", "a::kLimit"));
}

TEST(OneDefinition, PlantedFaultsAreFound) {
    const std::string type = "namespace rampart::stats { struct Interval { double low, high; }; }";
    const auto faults = [](const std::string& one, const std::string& two) {
        return faults_of(definitions_in({{"libs/a/x.hpp", one}, {"services/b/y.cpp", two}})).size();
    };
    EXPECT_EQ(faults(type, type), 1u);
    EXPECT_EQ(faults(type, "namespace rampart { namespace stats { enum class Interval {}; } }"),
              1u);
    EXPECT_EQ(faults("namespace a { inline int f(int n) { return n; } }",
                     "namespace a { int f(int other) { return other + 1; } }"),
              1u);
    EXPECT_EQ(faults("namespace a { inline int k = 1; }", "namespace a { inline int k{2}; }"), 1u);
    EXPECT_EQ(faults("namespace a { namespace { int f() { return 1; } } }", ""), 1u);  // a header
    EXPECT_EQ(faults("namespace a { struct B {", ""), 1u);

    EXPECT_EQ(faults(type, "namespace rampart::ope { struct Interval {}; }"), 0u);
    EXPECT_EQ(faults(type, "namespace rampart::stats { struct Interval; }"), 0u);
    EXPECT_EQ(faults(type, "namespace rampart::stats { namespace { struct Interval {}; } }"), 0u);
    EXPECT_EQ(faults("namespace a { inline int f(int n) { return n; } }",
                     "namespace a { int f(double n) { return 1; } }"),
              0u);
    EXPECT_EQ(faults("namespace a { struct B { void f() {} }; }", "namespace a { void f() {} }"),
              0u);
}

}  // namespace
}  // namespace rampart::architecture
