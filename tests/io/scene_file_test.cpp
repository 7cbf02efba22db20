#include "stiction/io/scene_file.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "stiction/base/error.hpp"

namespace stiction::io::scene_file_test {
namespace {

namespace fs = std::filesystem;

/// A temporary folder of files, removed at the end of its test.
class Folder {
 public:
  Folder()
      : path_(fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }

 private:
  fs::path path_;
};

std::string fault_of(const fs::path& path) {
  try {
    SceneFile(path).check();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(SceneFile, AcceptsAValidFile) {
  const Folder folder;
  const fs::path path = folder.write("a.xml", R"(<mujoco><option timestep="0.01"/>
<worldbody><geom name="inf" size="1"/><body name="nan"><joint range="-inf inf"/></body>
<replicate count="100"><geom size="1"/></replicate></worldbody></mujoco>)");
  EXPECT_EQ(fault_of(path), "");
}

TEST(SceneFile, ListsEveryNumberThatIsNotFinite) {
  const Folder folder;
  const fs::path path = folder.write("a.xml", R"(<mujoco><option timestep="nan"/>
<worldbody><geom size="1 -Inf"/>
<body pos="0	+INFINITY
0"/></worldbody></mujoco>)");
  const std::string fault = fault_of(path);
  for (const char* part : {"a.xml:1: option: timestep is 'nan', must be finite",
                           "a.xml:2: geom: size is '1 -Inf'", "a.xml:3: body: pos is"})
    EXPECT_NE(fault.find(part), std::string::npos) << fault;
}

TEST(SceneFile, ChecksNumbersOfEveryAttribute) {
  const Folder folder;
  const auto fault = [&](const std::string& element) {
    return fault_of(folder.write("a.xml", "<mujoco>\n" + element + "</mujoco>"));
  };
  for (const char* bad :
       {"<connect anchor='nan 0 0'/>", "<joint polycoef='0 inf'/>", "<joint coef='nan'/>",
        "<geom fluidcoef='1 nan 1'/>", "<body gravcomp='-inf'/>", "<spatial springlength='NaN'/>",
        "<geom solimp='.9 nan'/>", "<geom solref='nan 1'/>", "<muscle lengthrange='0 inf'/>",
        "<option impratio='+inf'/>", "<muscle timeconst='nan 1'/>", "<general dynprm='inf'/>",
        "<key mpos='nan 0 0'/>", "<key qpos='nan'/>", "<option magnetic='-nan 0 0'/>"})
    EXPECT_NE(fault(bad).find("', must be finite"), std::string::npos) << bad;
  for (const char* bad : {"<motor forcerange='nan 1'/>", "<motor ctrlrange='-inf nan'/>",
                          "<joint range='nan 1'/>", "<joint actuatorfrcrange='0 nan'/>"})
    EXPECT_NE(fault(bad).find("', must not be NaN"), std::string::npos) << bad;
  EXPECT_TRUE(fault("<connect name='c' anchor='nan 0 0'/>")
                  .ends_with("a.xml:2: connect 'c': anchor is 'nan 0 0', must be finite"));
}

TEST(SceneFile, LeavesNamesUserDataAndClippingRanges) {
  const Folder folder;
  for (const char* good :
       {"<motor joint='inf' ctrlrange='-inf inf'/>", "<geom class='nan' material='inf'/>",
        "<weld body1='nan' body2='inf'/>", "<geom user='nan 1 inf'/>", "<text data='nan'/>",
        "<numeric data='nan'/>", "<key ctrl='nan'/>", "<config key='nan' value='inf'/>",
        "<flex body='nan inf'/>", "<framepos objname='nan' refname='inf'/>", "<geom size='1e999'/>",
        "<geom type='nano' size='1'/>", "<jointpos cutoff='inf'/>"})
    EXPECT_EQ(fault_of(folder.write("a.xml", "<mujoco>" + std::string(good) + "</mujoco>")), "")
        << good;
}

TEST(SceneFile, LeavesMalformedFilesToMuJoCo) {
  const Folder folder;
  for (const char* text : {"", "text", "<mujoco><a></mujoco>", "<mujoco", "\xff\xfe"})
    EXPECT_EQ(fault_of(folder.write("a.xml", text)), "");
  EXPECT_EQ(fault_of("nowhere.xml"), "");
}

TEST(SceneFile, ReadsIncludesFromTheMainFoldersFirst) {
  const Folder folder;
  const fs::path path = folder.write("a.xml", R"(<mujoco><include file="sub/b.xml"/></mujoco>)");
  folder.write("sub/b.xml", R"(<mujoco><include file="c.xml"/><include file="b.xml"/></mujoco>)");
  folder.write("sub/c.xml", "<mujoco>\n<geom size='nan'/></mujoco>");
  EXPECT_NE(fault_of(path).find("sub/c.xml:2"), std::string::npos);
  folder.write("c.xml", "<mujoco>\n\n<geom size='nan'/></mujoco>");
  EXPECT_NE(fault_of(path).find("/c.xml:3"), std::string::npos);
}

TEST(SceneFile, FindsTheLineOfAMessage) {
  const Folder folder;
  const fs::path path = folder.write("a.xml", R"(<mujoco>
<include file="b.xml"/></mujoco>)");
  const fs::path part = folder.write("b.xml",
                                     "<mujoco>\n\n<geom name='g' sze='1'/>"
                                     "<mesh file='m.obj'/></mujoco>");
  const SceneFile scene(path);
  EXPECT_EQ(scene.locate("Error: bad\nElement name '', id 0, line 7"), path.string() + ":7");
  EXPECT_EQ(scene.locate("Error: bad\nElement name 'g', id 0, line 0"), part.string() + ":3");
  EXPECT_EQ(scene.locate("unrecognized attribute: 'sze'\nElement 'geom', line 0\n"),
            part.string() + ":3");
  EXPECT_EQ(scene.locate("Error: Error opening file 'meshes/m.obj'"), part.string() + ":3");
  EXPECT_EQ(scene.locate("XML parse error 14:\nError=X Line number=5: XMLElement name=geom\n"),
            path.string() + ":5");
  EXPECT_EQ(scene.locate("Include error: 'XML parse error 14:\nLine number=9: x\n'\nElement "
                         "'include', line 2\n"),
            part.string() + ":9");
  EXPECT_EQ(scene.locate("XML parse error 13:\nError=XML_ERROR_EMPTY_DOCUMENT Line number=0:\n"),
            path.string());
  EXPECT_EQ(scene.locate("engine error"), path.string());
}

}  // namespace
}  // namespace stiction::io::scene_file_test
