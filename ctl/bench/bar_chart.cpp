#include "ctl/bench/bar_chart.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

#include "config/exit_codes.hpp"
#include "ctl/bench/bench_error.hpp"
#include "ctl/bench/program_output.hpp"
#include "ctl/bench/temporary_folder.hpp"

namespace tailrace {
namespace {

/// A string of gnuplot's in double quotes.
std::string gnuplot_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return result + '"';
}

void plot(std::ostream& script, const BarChart::Panel& panel, int column, const char* colour) {
  const std::string values = std::to_string(column);
  script << "set title " << gnuplot_string(panel.title) << "\n"
         << "set yrange [0:" << (panel.top > 0 ? std::to_string(panel.top) : "*") << "]\n"
         << "plot $figures using 0:" << values << ":xtic(1) with boxes lc rgb '" << colour << "', \\\n"
         << "     $figures using 0:" << values << ":(sprintf('%." << panel.digits << "f', $" << values
         << ")) with labels offset 0,0.8 tc rgb '#202020'\n";
}

}  // namespace

std::string gnuplot_script(const BarChart& chart) {
  std::ostringstream script;
  script << "set terminal pngcairo size 1200,520 noenhanced font ',13' background '#ffffff'\n"
         << "$figures << EOD\n";
  for (std::size_t i = 0; i < chart.labels.size(); ++i)
    script << gnuplot_string(chart.labels[i]) << ' ' << chart.left.values.at(i) << ' '
           << chart.right.values.at(i) << '\n';
  script << "EOD\n"
         << "set style fill solid noborder\n"
         << "set boxwidth 0.62\n"
         << "set border 1 lc rgb '#808080'\n"
         << "set tics nomirror scale 0 tc rgb '#202020'\n"
         << "set grid ytics lt 1 lc rgb '#e4e4e4'\n"
         << "set xrange [-0.6:" << chart.labels.size() << "-0.4]\n"
         << "set offsets 0,0,graph 0.12,0\n"
         << "unset key\n"
         << "set multiplot layout 1,2 title " << gnuplot_string(chart.title) << "\n";
  plot(script, chart.left, 2, "#1f6f8b");
  plot(script, chart.right, 3, "#7a9e3f");
  script << "unset multiplot\n";
  return script.str();
}

void check_can_draw(const std::filesystem::path& file) {
  if (find_program("gnuplot").empty())
    throw BenchError(
        "a plot needs gnuplot, and there is none in PATH: install gnuplot-nox, or leave out --plot",
        kExitNoDevice);
  const auto folder = absolute(file).parent_path();
  if (!is_directory(folder))
    throw BenchError("there is no folder " + folder.string() + " for the plot: make it first", kExitUsage);
}

void draw_png(const BarChart& chart, const std::filesystem::path& file, const ChildSignals& signals) {
  const TemporaryFolder folder;
  const auto script = folder.file("chart.gp");
  std::ofstream(script) << gnuplot_script(chart);
  const ProgramOutput output = run_program_to_end({"gnuplot", script.string()}, signals);
  if (output.exit_code != 0)
    throw BenchError("gnuplot ended with exit code " + std::to_string(output.exit_code) +
                         " instead of drawing " + file.string() + "; what it said is above",
                     kExitUnexpected);
  // Complete under its name, or not there.
  const std::filesystem::path unfinished = file.string() + ".unfinished-" + std::to_string(getpid());
  std::ofstream stream(unfinished, std::ios::binary);
  stream << output.text;
  stream.close();
  if (!stream) {
    std::filesystem::remove(unfinished);
    throw BenchError("cannot write " + unfinished.string() + ": no room or no permission?", kExitIo);
  }
  rename(unfinished, file);
}

}  // namespace tailrace
