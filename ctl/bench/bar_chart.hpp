#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ctl/bench/child_signals.hpp"

namespace tailrace {

/// Two bar charts of the same labels, side by side.
struct BarChart {
  struct Panel {
    std::string title;
    int digits = 0;              // behind the point, in the figure over each bar
    double top = 0;              // of the scale; 0 = as the values need it
    std::vector<double> values;  // one for each label; not negative
  };

  std::string title;
  std::vector<std::string> labels;
  Panel left;
  Panel right;
};

/// A script that has gnuplot write the chart as a PNG to its standard output. Any text is drawn as it is.
std::string gnuplot_script(const BarChart& chart);

/// Fails before anything is measured, where draw_png could only fail after it: throws BenchError where there
/// is no gnuplot in PATH, or no folder for the file.
void check_can_draw(const std::filesystem::path& file);

/// Draws the chart with gnuplot; the file appears when it is complete. Throws BenchError and
/// std::system_error.
void draw_png(const BarChart& chart, const std::filesystem::path& file, const ChildSignals& signals);

}  // namespace tailrace
