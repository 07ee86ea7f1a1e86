import * as hdr from "hdr-histogram-js";
import fs from "fs";
const value = (i) => { const v = 200000 + 37000 * (i % 251) + 1013 * (i % 17); return i % 100 === 0 ? v * 40 : v; };
const h = hdr.build({ lowestDiscernibleValue: 1, highestTrackableValue: 600000000, numberOfSignificantValueDigits: 2, useWebAssembly: false, bitBucketSize: 64 });
for (let i = 1; i <= 10000; i++) h.recordValue(Math.round(value(i) / 1000));   // microseconds
let log = "";
const w = new hdr.HistogramLogWriter((s) => { log += s; });
w.outputLogFormatVersion(); w.outputLegend();
h.startTimeStampMsec = 0; h.endTimeStampMsec = 1000;
w.outputIntervalHistogram(h, 0, 1, 1000);
fs.writeFileSync("golden/js-microseconds.hlog", log);
fs.writeFileSync("golden/js-microseconds.hgrm", h.outputPercentileDistribution(5, 1000));
console.log(h.getValueAtPercentile(50), h.getValueAtPercentile(99.9), h.maxValue, h.totalCount);
