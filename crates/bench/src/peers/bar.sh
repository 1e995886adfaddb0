n=0
while [ $n -lt COUNT ]; do
    memory=$(free -m | awk '/^Mem:/ {print $3}')
    load=$(cut -d' ' -f1 /proc/loadavg)
    disk=$(df -h / | awk 'NR==2 {print $4}')
    now=$(date '+%Y-%m-%d %H:%M')
    echo "$memory MB | $load | $disk | $now"
    sleep 0.02
    n=$((n + 1))
done
