--> {"client": "grafana", "columns": [["version", 23]]}
SELECT current_setting('server_version_num')::int/100 as version
--> {"client": "grafana", "columns": [["?column?", 23]]}
SELECT 1 FROM pg_extension WHERE extname = 'timescaledb'
--> {"client": "grafana", "columns": [["table", 25]]}
SELECT quote_ident(table_name) as "table" FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache') AND table_type = 'BASE TABLE' AND quote_ident(table_schema) IN (SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1), array_upper(string_to_array(current_setting('search_path'),','),1)) as i, string_to_array(current_setting('search_path'),',') s)
--> {"client": "grafana", "columns": [["column", 25], ["type", 1043]]}
SELECT quote_ident(column_name) as "column", data_type as "type" FROM information_schema.columns WHERE quote_ident(table_name) = 'people'
--> {"client": "grafana", "columns": [["table", 25]]}
SELECT CASE WHEN quote_ident(table_schema) IN ('public') THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table" FROM information_schema.tables WHERE quote_ident(table_schema) NOT IN ('information_schema','pg_catalog','_timescaledb_cache','_timescaledb_catalog','_timescaledb_internal','_timescaledb_config','timescaledb_information','timescaledb_experimental') ORDER BY CASE WHEN quote_ident(table_schema) IN ('public') THEN 0 ELSE 1 END, 1
--> {"client": "grafana", "columns": [["quote_ident", 25]]}
SELECT quote_ident(column_name) FROM information_schema.columns WHERE quote_ident(table_name) = 'people' AND data_type IN ('timestamp without time zone','timestamp with time zone','bigint','integer','double precision','real')
--> {"client": "grafana", "columns": [["?column?", 23]]}
select 1
