#include <unistd.h>

#include <filesystem>

#include "tests/config/config_fixture.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Consistency : public ConfigFixture {
 protected:
  Consistency() { fs::create_directories(folder_ / "photos/sub"); }

  static constexpr const char* kImages = "[source]\nkind = \"images\"\npath = \"photos\"\n";

  static std::string npy_group(const std::string& name, const std::string& path) {
    return "[[group]]\nname = \"" + name + "\"\nsink = { kind = \"npy\", path = \"" + path + "\" }\n";
  }
};

TEST_F(Consistency, WantsThePathOfFileSources) {
  EXPECT_THAT(faults("[source]\nkind = \"images\"\n"),
              ElementsAre("seg.toml:2:8: source.kind = \"images\": needs source.path: where the items are"));
  EXPECT_THAT(faults("[source]\nkind = \"arrays\"\npath = \"none\"\n"),
              ElementsAre("seg.toml:3:8: source.path = \"none\": there is no \"" +
                          (folder_ / "none").string() + "\""));
  EXPECT_THAT(faults(kImages), IsEmpty());
}

TEST_F(Consistency, DoesNotCallMissingWhatItCannotLookAt) {
  const std::string file = write("[source]\nkind = \"images\"\npath = \"photos/sub\"\n");
  fs::permissions(folder_, fs::perms{0755});
  fs::permissions(file, fs::perms{0644});
  fs::permissions(folder_ / "photos", fs::perms{0700});
  const uid_t user = geteuid();
  if (user != 0 || seteuid(65534) != 0) GTEST_SKIP() << "cannot become another user";
  const auto found = faults_of_file(file);
  ASSERT_EQ(seteuid(user), 0);
  EXPECT_THAT(found, ElementsAre(HasSubstr("user 65534 cannot look at \"" +
                                           (folder_ / "photos/sub").string() + "\": Permission denied")));
}

TEST_F(Consistency, RefusesKeysWithoutMeaning) {
  EXPECT_THAT(
      faults("[source]\nresize = \"fit\"\n"),
      ElementsAre(
          "seg.toml:2:10: source.resize = \"fit\": only has a meaning with source.kind = \"images\", but "
          "that is \"synthetic\": remove one of the two"));
  EXPECT_THAT(faults(std::string(kImages) + "items = 3\n"),
              ElementsAre(HasSubstr("source.kind = \"synthetic\"")));
  EXPECT_THAT(faults("[[group]]\nsink = { kind = \"null\", original_size = true }\n"),
              ElementsAre(HasSubstr("group.main.sink.kind = \"png_mask\"")));
  EXPECT_THAT(faults("[model]\nkind = \"synthetic\"\nclasses = 3\n"),
              ElementsAre(HasSubstr("model.classes = 3")));
}

TEST_F(Consistency, DoesNotBuildOnValuesThatAreWrongAnyhow) {
  EXPECT_THAT(faults("[source]\nkind = \"imags\"\nresize = \"fit\"\npath = \"none\"\n"),
              ElementsAre(HasSubstr("did you mean \"images\"")));
}

TEST_F(Consistency, WantsAFolderForWhatAProfileWrites) {
  EXPECT_THAT(
      faults("[profile]\nreport = \"none/report.json\"\n"),
      ElementsAre(HasSubstr("seg.toml:2:10: profile.report = \"none/report.json\": there is no folder")));
  EXPECT_THAT(faults("[profile]\nreport = \"photos\"\n"), ElementsAre(HasSubstr("must be a file")));
  EXPECT_THAT(faults("[profile]\nreport = \"photos/report.json\"\n"), IsEmpty());
}

TEST_F(Consistency, RefusesToReplaceWhatIsNoFileByAProfile) {
  EXPECT_THAT(faults("[profile]\nreport = \"/dev/null\"\n"), ElementsAre(HasSubstr("is something else")));
  EXPECT_THAT(faults("[profile]\nprofile_steps = 1\ntrace = \"x.json\"\nreport = \"x.json\"\n"),
              ElementsAre(HasSubstr("is also profile.trace")));
}

TEST_F(Consistency, WantsStepsForATimeline) {
  EXPECT_THAT(
      faults("[profile]\ntrace = \"trace.json\"\n"),
      ElementsAre(HasSubstr("seg.toml:2:9: profile.trace = \"trace.json\": needs profile.profile_steps")));
  EXPECT_THAT(faults("[profile]\ntrace = \"trace.json\"\nprofile_steps = 5\n"), IsEmpty());
}

TEST_F(Consistency, AllowsOneProcessInline) {
  const std::string text = "[egress]\nstrategy = \"inline\"\n[[group]]\nprocesses = ";
  EXPECT_THAT(faults(text + "1\n"), IsEmpty());
  EXPECT_THAT(faults(text + "2\n"),
              ElementsAre(HasSubstr("seg.toml:4:13: group.main.processes = 2: must be 1 with")));
}

TEST_F(Consistency, WantsDifferentGroupNames) {
  EXPECT_THAT(
      faults("[[group]]\nname = \"a\"\n[[group]]\nname = \"a\"\n"),
      ElementsAre("seg.toml:4:8: group.a.name = \"a\": two groups have this name; the other is number 1"));
}

TEST_F(Consistency, RefusesOneFolderForTwoGroups) {
  EXPECT_THAT(faults(npy_group("a", "out") + npy_group("b", "./x/../out/")),
              ElementsAre(HasSubstr("group.b.sink.path = \"./x/../out/\": the group a writes")));
  fs::create_directory(folder_ / "out");
  fs::create_directory_symlink("out", folder_ / "link");
  EXPECT_THAT(faults(npy_group("a", "out") + npy_group("b", "link")),
              ElementsAre(HasSubstr("the group a writes")));
  EXPECT_THAT(faults(npy_group("a", "out") + npy_group("b", "out2")), IsEmpty());
}

TEST_F(Consistency, RefusesTheFolderOfAnotherGroupsOverlays) {
  const auto masks = [](const std::string& name, const std::string& path, const std::string& overlay) {
    return "[[group]]\nname = \"" + name + "\"\nsink = { kind = \"png_mask\", path = \"" + path +
           "\", overlay = " + overlay + " }\n";
  };
  for (const auto& [first, second] : {std::pair("out", "out-overlay"), std::pair("out-overlay", "out")}) {
    EXPECT_THAT(faults(masks("a", first, "true") + masks("b", second, "true")),
                ElementsAre(HasSubstr("the group a writes")));
    EXPECT_THAT(faults(masks("a", first, "false") + masks("b", second, "false")), IsEmpty());
  }
}

TEST_F(Consistency, RefusesOutputInTheInput) {
  EXPECT_THAT(faults(kImages + npy_group("a", "photos")), ElementsAre(HasSubstr("lies in source.path")));
  EXPECT_THAT(faults(kImages + npy_group("a", "photos/new/out")),
              ElementsAre(HasSubstr("lies in source.path")));
  EXPECT_THAT(faults(kImages + npy_group("a", "photos-out")), IsEmpty());
}

TEST_F(Consistency, RefusesAnOutputFolderThatIsAFile) {
  write("", "taken");
  EXPECT_THAT(faults(npy_group("a", "taken")), ElementsAre(HasSubstr("must be a folder")));
}

TEST_F(Consistency, RefusesOriginalSizesOfWhatHasNone) {
  const std::string group =
      "[[group]]\nsink = { kind = \"png_mask\", path = \"out\", original_size = true }\n";
  EXPECT_THAT(faults(group), ElementsAre(HasSubstr("needs source.kind = \"images\"")));
  EXPECT_THAT(faults(kImages + group), IsEmpty());
}

TEST_F(Consistency, RefusesMoreClassesThanAMaskHolds) {
  const std::string group = "[[group]]\nsink = { kind = \"png_mask\", path = \"out\" }\n";
  EXPECT_THAT(faults("[model]\nclasses = 257\n" + group), ElementsAre(HasSubstr("holds 256 classes")));
  EXPECT_THAT(faults("[model]\nclasses = 256\n" + group), IsEmpty());
}

TEST_F(Consistency, BoundsTheNormalisationOfImages) {
  for (const char* line : {"std = [0, 1, 1]", "std = [1, 1]", "std = [inf, 1, 1]", "std = [-1, 1, 1]",
                           "mean = [nan, 0, 0]", "mean = [0.5]", "mean = 0.5", "mean = [\"a\", 0, 0]",
                           "size = [0, 5]", "size = [5]", "size = [16385, 1]", "size = 5"})
    EXPECT_EQ(faults(std::string(kImages) + line + "\n").size(), 1u) << line;
}

TEST_F(Consistency, FindsTheProgramOfExecFromTheFilesFolder) {
  const std::string file = "[[group]]\nsink = { kind = \"exec\", command = [\"./run.sh\", \"x\"] }\n";
  EXPECT_THAT(faults(file), ElementsAre(HasSubstr("there is no program \"" + (folder_ / "run.sh").string())));
  std::ofstream(folder_ / "run.sh") << "#!/bin/sh\n";
  EXPECT_THAT(faults(file), ElementsAre(HasSubstr("is not executable")));
  fs::permissions(folder_ / "run.sh", fs::perms::owner_all);
  EXPECT_THAT(faults(file), IsEmpty());
}

}  // namespace
}  // namespace tailrace
