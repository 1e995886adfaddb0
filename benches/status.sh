#!/bin/sh
# A status line as people write one: pipes and small programs.
used=$(free -m | awk '/^Mem:/ { print $3 }')
load=$(cut -d' ' -f1 /proc/loadavg)
space=$(df -h / | awk 'NR == 2 { print $4 }')
received=$(awk '/eth0/ { print $2 }' /proc/net/dev)
echo "net $received | mem $used MiB | load $load | / $space free | $(date '+%a %Y-%m-%d %H:%M:%S')"
