# The tasks of Transcripts/tasks.txt in redis-cli 7, with namespaces as prefixes of keys. jq reads JSON. The lines before task 1 fill
# the server, those of task 12 need a second one on port 6380.
for n in 1 2 3 4; do redis-cli set web:page/$n "$(printf "%0${n}00d" 0)" ex 3600; done
redis-cli set web:old '{"year":1999}' ex 172800
redis-cli set images:a PNG

# 1
redis-cli --scan | while read -r k; do echo "${k%%:*} $(redis-cli strlen "$k")"; done | awk '{n[$1]++; b[$1] += $2} END {for (k in n) print k, n[k], b[k]}'

# 2
redis-cli --scan | while read -r k; do t=$(redis-cli ttl "$k"); [ "$t" -ge 0 ] && [ "$t" -le 7200 ] && echo "$k"; done

# 3
redis-cli --scan --pattern 'web:page/[34]'
redis-cli --scan --pattern 'web:page/[34]' | xargs -d '\n' redis-cli del

# 4
redis-cli --scan --pattern 'web:*' | while read -r k; do [ "$(redis-cli object idletime "$k")" -gt 86400 ] && echo "$k"; done
redis-cli --scan --pattern 'web:*' | while read -r k; do redis-cli get "$k" | jq -e '.year? < 2000 and .year? != null' > /dev/null 2>&1 && echo "$k"; done

# 5
redis-cli --scan --pattern 'web:page/*' | xargs -d '\n' -n1 echo got

# 6
redis-cli --scan | sort | while read -r k; do echo "$k $(redis-cli get "$k" | sha1sum)"; done > before
redis-cli set web:page/9 new ex 3600
redis-cli --scan | sort | while read -r k; do echo "$k $(redis-cli get "$k" | sha1sum)"; done | diff before -

# 7
redis-cli get web:old | jq .year

# 8
redis-cli expire web:page/1 $(($(redis-cli ttl web:page/1) + 43200))
redis-cli --scan | while read -r k; do t=$(redis-cli ttl "$k"); [ "$t" -ge 0 ] && [ "$t" -le 7200 ] && echo "$k"; done

# 9
redis-cli config set notify-keyspace-events KEA
timeout 1 redis-cli psubscribe '__keyspace@0__:web:*'

# 10
redis-cli info memory | grep -E '^(used_memory|maxmemory|maxmemory_policy):'

# 11
echo "redis-cli --scan --pattern 'web:*' | while read -r k; do [ \$(redis-cli strlen \"\$k\") -lt 2 ] && redis-cli del \"\$k\"; done" > nightly.sh
sh nightly.sh

# 12
redis-cli --scan --pattern 'web:*' | while read -r k; do redis-cli migrate 127.0.0.1 6380 "$k" 0 1000 copy replace; done
redis-cli -p 6380 --scan
