# The tasks of Transcripts/tasks.txt in the DuckDB shell 1.5, with the entries as a table. The lines before task 1 fill it.
duckdb store.db "create table entries (ns text, key text, value text, written timestamp default now()::timestamp, expires timestamp, primary key (ns, key))"
for n in 1 2 3 4; do duckdb store.db "insert into entries (ns, key, value, expires) values ('web', 'page/$n', repeat('0', $n * 100), now()::timestamp + interval 1 hour)"; done
duckdb store.db "insert into entries (ns, key, value, expires) values ('web', 'old', '{\"year\":1999}', now()::timestamp + interval 2 day), ('images', 'a', 'PNG', null)"

# 1
duckdb store.db "select ns, count(*), sum(strlen(value)) bytes from entries group by ns order by bytes desc"

# 2
duckdb store.db "select ns, key from entries where expires < now()::timestamp + interval 2 hour"

# 3
duckdb store.db "select key from entries where ns = 'web' and key glob 'page/[34]'"
duckdb store.db "delete from entries where ns = 'web' and key glob 'page/[34]'"

# 4
duckdb store.db "select count(*) from entries where written < now()::timestamp - interval 1 day"
duckdb store.db "select key from entries where ns = 'web' and json_valid(value) and (value->>'year')::int < 2000"

# 5
duckdb -list -noheader store.db "select key from entries where ns = 'web' and key like 'page/%'" | xargs -d '\n' -n1 echo got

# 6
cp store.db before.db
duckdb store.db "insert into entries (ns, key, value, expires) values ('web', 'page/9', 'new', now()::timestamp + interval 1 hour)"
duckdb store.db "attach 'before.db' as b; select 'added', ns, key from entries anti join b.entries using (ns, key, value) union all select 'removed', ns, key from b.entries anti join entries using (ns, key, value)"

# 7
duckdb store.db "select value->>'year' from entries where ns = 'web' and key = 'old'"

# 8
duckdb store.db "update entries set expires = expires + interval 12 hour where ns = 'web' and key = 'page/1'"
duckdb store.db "select key from entries where ns = 'web' and expires < now()::timestamp + interval 2 hour"

# 9
while sleep 1; do duckdb -readonly store.db "select * from entries where ns = 'web' and written > now()::timestamp - interval 1 second"; done & sleep 3; kill $!

# 10
duckdb store.db "call pragma_database_size()"

# 11
printf "delete from entries where expires < now()::timestamp;\ndelete from entries where ns = 'web' and strlen(value) < 2;\n" > nightly.sql
duckdb store.db < nightly.sql

# 12
duckdb store.db "copy (from entries where ns = 'web') to 'web.parquet'"
duckdb home.db "create table entries as from 'web.parquet'; select key from entries"
