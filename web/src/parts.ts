// What a machine consists of, part by part: its CPUs, disks, interfaces, filesystems, sensors. Plots of the machine lead here.

import type { Measure } from "./units";
import type { Panel } from "./panels";

export const PARTS = ["cpus", "disks", "interfaces", "filesystems", "sensors"] as const;
export type Parts = (typeof PARTS)[number];

/** In words, as a link has it. */
export const BY: { [parts in Parts]: string } = {
  cpus: "by CPU",
  disks: "by disk",
  interfaces: "by interface",
  filesystems: "by filesystem",
  sensors: "by sensor",
};

const panel = (title: string, measure: Measure, name: string, expression: string): Panel => ({
  title,
  measure,
  is_stacked: false,
  is_large: true,
  leaves_out_zeros: true,
  absent: "Nothing was recorded of it in this time.",
  curves: [{ expression, name }],
});

const cpu = (modes: string) => `sum by (cpu) (rate(node_cpu_seconds_total{mode=~"${modes}"}[W]))`;
const disk = (title: string, measure: Measure, expression: string) => panel(title, measure, "{device}", expression);
const requests = "(rate(node_disk_reads_completed_total[W]) + rate(node_disk_writes_completed_total[W]))";
const net = (title: string, measure: Measure, counter: string) => panel(title, measure, "{device}", `rate(node_network_${counter}_total[W])`);

/** The panels of the parts of one kind: a curve for each part. */
export function parts_panels(parts: Parts): Panel[] {
  switch (parts) {
    case "cpus":
      return [
        panel("Busy, by CPU", "ratio", "CPU {cpu}", cpu("user|nice|system|irq|softirq")),
        panel("In the kernel, by CPU", "ratio", "CPU {cpu}", cpu("system|irq|softirq")),
        panel("Taken by the host, by CPU", "ratio", "CPU {cpu}", cpu("steal")),
      ];
    case "disks":
      return [
        disk("Read, by disk", "bytes_per_second", "rate(node_disk_read_bytes_total[W])"),
        disk("Written, by disk", "bytes_per_second", "rate(node_disk_written_bytes_total[W])"),
        disk("Busy, by disk", "ratio", "rate(node_disk_io_time_seconds_total[W])"),
        disk("Requests, by disk", "rate", requests),
        disk(
          "Time of a request, by disk",
          "seconds",
          `(rate(node_disk_read_time_seconds_total[W]) + rate(node_disk_write_time_seconds_total[W])) / (${requests} > 0)`,
        ),
      ];
    case "interfaces":
      return [
        net("Received, by interface", "bytes_per_second", "receive_bytes"),
        net("Sent, by interface", "bytes_per_second", "transmit_bytes"),
        net("Packets received, by interface", "rate", "receive_packets"),
        net("Packets sent, by interface", "rate", "transmit_packets"),
        panel(
          "Errors and dropped packets, by interface",
          "rate",
          "{device}",
          ["receive_errs", "receive_drop", "transmit_errs", "transmit_drop"].map((what) => `rate(node_network_${what}_total[W])`).join(" + "),
        ),
      ];
    case "filesystems":
      return [
        panel("Used, by filesystem", "ratio", "{mountpoint}", "1 - node_filesystem_avail_bytes / node_filesystem_size_bytes"),
        panel("Room, by filesystem", "bytes", "{mountpoint}", "node_filesystem_avail_bytes"),
        panel("Inodes used, by filesystem", "ratio", "{mountpoint}", "1 - node_filesystem_files_free / (node_filesystem_files > 0)"),
      ];
    case "sensors":
      return [panel("Temperature, by sensor", "celsius", "{device} {chip} {sensor}", "whit_temperature_celsius")];
  }
}
