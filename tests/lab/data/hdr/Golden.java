// Writes the files of tests/lab/data/hdr with the Java implementation (Debian's libhdrhistogram-java 2.1.11).
import org.HdrHistogram.*;
import java.io.*;

public class Golden {
  // The same numbers as tests/lab/golden_latencies.hpp: nanoseconds of some thousands of latencies with a tail.
  static long value(int i) {
    long v = 200000L + 37000L * (i % 251) + 1013L * (i % 17);
    return i % 100 == 0 ? v * 40 : v;
  }
  public static void main(String[] a) throws Exception {
    final long highest = 600_000_000_000L;
    Histogram all = new Histogram(highest, 3);
    for (int i = 1; i <= 10000; i++) all.recordValue(value(i));
    try (PrintStream out = new PrintStream("golden/java.hgrm")) { all.outputPercentileDistribution(out, 1e6); }
    try (PrintStream out = new PrintStream("golden/java.hlog")) {
      HistogramLogWriter w = new HistogramLogWriter(out);
      w.outputComment("[written by the Java implementation, 2.1.11]");
      w.outputLogFormatVersion();
      w.outputStartTime(1764496245000L);
      w.outputLegend();
      for (int part = 0; part < 4; part++) {
        Histogram h = new Histogram(highest, 3);
        for (int i = 1 + part * 2500; i <= (part + 1) * 2500; i++) h.recordValue(value(i));
        w.outputIntervalHistogram(part, part + 1, h, 1e6);
      }
      Histogram none = new Histogram(highest, 3);
      w.outputIntervalHistogram(4, 5, none, 1e6);
      Histogram up = new Histogram(highest, 3);
      for (int i = 1; i <= 10; i++) up.recordValue(250_000_000L);
      up.setTag("given_up");
      w.outputIntervalHistogram(4, 5, up, 1e6);
      Histogram other = new Histogram(highest, 3);
      other.recordValue(5_000_000L);
      other.setTag("others");
      w.outputIntervalHistogram(4, 5, other, 1e6);
    }
    try (PrintStream out = new PrintStream("golden/java-doubles.hlog")) {
      HistogramLogWriter w = new HistogramLogWriter(out);
      w.outputLogFormatVersion();
      w.outputLegend();
      DoubleHistogram d = new DoubleHistogram(1_000_000L, 2);
      for (int i = 1; i <= 1000; i++) d.recordValue(0.25 * i);
      w.outputIntervalHistogram(0.0, 1.0, d, 1.0);
    }
    for (int digits = 1; digits <= 5; digits++) {
      Histogram h = new Histogram(1000, 3_600_000_000L, digits);
      for (int i = 1; i <= 1000; i++) h.recordValue(1000L * i * i);
      try (PrintStream out = new PrintStream("golden/java-" + digits + "-digits.hlog")) {
        HistogramLogWriter w = new HistogramLogWriter(out);
        w.outputLogFormatVersion();
        w.outputLegend();
        w.outputIntervalHistogram(0, 1, h, 1.0);
      }
      System.out.println(digits + " p50 " + h.getValueAtPercentile(50) + " lowest " + h.lowestEquivalentValue(h.getValueAtPercentile(50)) + " max " + h.getMaxValue() + " min " + h.getMinValue());
    }
  }
}
