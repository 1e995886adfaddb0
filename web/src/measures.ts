// The units in which values are written: from text/src/plot/axis.rs.

/** Each unit and its name, the smallest first. */
export const MEASURES = {
  number: [[1.0,""],[1000.0,"k"],[1000000.0,"M"],[1000000000.0,"G"],[1000000000000.0,"T"]],
  rate: [[1.0,"/s"],[1000.0,"k/s"],[1000000.0,"M/s"],[1000000000.0,"G/s"],[1000000000000.0,"T/s"]],
  bytes: [[1.0," B"],[1024.0," KiB"],[1048576.0," MiB"],[1073741824.0," GiB"],[1099511627776.0," TiB"],[1125899906842624.0," PiB"]],
  bytes_per_second: [[1.0," B/s"],[1000.0," kB/s"],[1000000.0," MB/s"],[1000000000.0," GB/s"],[1000000000000.0," TB/s"]],
  seconds: [[1e-9," ns"],[1e-6," µs"],[0.001," ms"],[1.0," s"],[60.0," min"],[3600.0," h"],[86400.0," d"]],
  ratio: [[0.01," %"]],
  celsius: [[1.0," °C"]],
} satisfies Record<string, [number, string][]>;
