"""PostgreSQL's own views, by name and columns; the letter after a column is its type."""

from __future__ import annotations

__all__ = ["SYSTEM_VIEWS"]

SYSTEM_VIEWS = """
pg_available_extension_versions name:n version:t installed:b superuser:b trusted:b relocatable:b
  schema:n requires:N comment:t
pg_available_extensions name:n default_version:t installed_version:t comment:t
pg_cursors name:t statement:t is_holdable:b is_binary:b is_scrollable:b creation_time:z
pg_group groname:n grosysid:o grolist:O
pg_indexes schemaname:n tablename:n indexname:n tablespace:n indexdef:t
pg_locks locktype:t database:o relation:o page:i tuple:s virtualxid:t transactionid:x classid:o
  objid:o objsubid:s virtualtransaction:t pid:i mode:t granted:b fastpath:b waitstart:z
pg_matviews schemaname:n matviewname:n matviewowner:n tablespace:n hasindexes:b ispopulated:b
  definition:t
pg_policies schemaname:n tablename:n policyname:n permissive:t roles:N cmd:t qual:t with_check:t
pg_prepared_statements name:t statement:t prepare_time:z parameter_types:R from_sql:b
  generic_plans:l custom_plans:l
pg_publication_tables pubname:n schemaname:n tablename:n attnames:N rowfilter:t
pg_roles rolname:n rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b
  rolreplication:b rolconnlimit:i rolpassword:t rolvaliduntil:z rolbypassrls:b rolconfig:T oid:o
pg_rules schemaname:n tablename:n rulename:n definition:t
pg_seclabels objoid:o classoid:o objsubid:i objtype:t objnamespace:o objname:t provider:t label:t
pg_sequences schemaname:n sequencename:n sequenceowner:n data_type:r start_value:l min_value:l
  max_value:l increment_by:l cycle:b cache_size:l last_value:l
pg_settings name:t setting:t unit:t category:t short_desc:t extra_desc:t context:t vartype:t
  source:t min_val:t max_val:t enumvals:T boot_val:t reset_val:t sourcefile:t sourceline:i
  pending_restart:b
pg_shadow usename:n usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t
  valuntil:z useconfig:T
pg_stat_activity datid:o datname:n pid:i leader_pid:i usesysid:o usename:n application_name:t
  client_addr:t client_hostname:t client_port:i backend_start:z xact_start:z query_start:z
  state_change:z wait_event_type:t wait_event:t state:t backend_xid:x backend_xmin:x query_id:l
  query:t backend_type:t
pg_stat_all_indexes relid:o indexrelid:o schemaname:n relname:n indexrelname:n idx_scan:l
  idx_tup_read:l idx_tup_fetch:l
pg_stat_all_tables relid:o schemaname:n relname:n seq_scan:l seq_tup_read:l idx_scan:l
  idx_tup_fetch:l n_tup_ins:l n_tup_upd:l n_tup_del:l n_tup_hot_upd:l n_live_tup:l n_dead_tup:l
  n_mod_since_analyze:l n_ins_since_vacuum:l last_vacuum:z last_autovacuum:z last_analyze:z
  last_autoanalyze:z vacuum_count:l autovacuum_count:l analyze_count:l autoanalyze_count:l
pg_stat_database datid:o datname:n numbackends:i xact_commit:l xact_rollback:l blks_read:l
  blks_hit:l tup_returned:l tup_fetched:l tup_inserted:l tup_updated:l tup_deleted:l conflicts:l
  temp_files:l temp_bytes:l deadlocks:l checksum_failures:l checksum_last_failure:z
  blk_read_time:d blk_write_time:d session_time:d active_time:d idle_in_transaction_time:d
  sessions:l sessions_abandoned:l sessions_fatal:l sessions_killed:l stats_reset:z
pg_stat_gssapi pid:i gss_authenticated:b principal:t encrypted:b
pg_stat_replication pid:i usesysid:o usename:n application_name:t client_addr:t client_hostname:t
  client_port:i backend_start:z backend_xmin:x state:t sent_lsn:t write_lsn:t flush_lsn:t
  replay_lsn:t write_lag:q flush_lag:q replay_lag:q sync_priority:i sync_state:t reply_time:z
pg_stat_ssl pid:i ssl:b version:t cipher:t bits:i client_dn:t client_serial:u issuer_dn:t
pg_stat_user_functions funcid:o schemaname:n funcname:n calls:l total_time:d self_time:d
pg_stat_user_indexes relid:o indexrelid:o schemaname:n relname:n indexrelname:n idx_scan:l
  idx_tup_read:l idx_tup_fetch:l
pg_stat_user_tables relid:o schemaname:n relname:n seq_scan:l seq_tup_read:l idx_scan:l
  idx_tup_fetch:l n_tup_ins:l n_tup_upd:l n_tup_del:l n_tup_hot_upd:l n_live_tup:l n_dead_tup:l
  n_mod_since_analyze:l n_ins_since_vacuum:l last_vacuum:z last_autovacuum:z last_analyze:z
  last_autoanalyze:z vacuum_count:l autovacuum_count:l analyze_count:l autoanalyze_count:l
pg_stats schemaname:n tablename:n attname:n inherited:b null_frac:f avg_width:i n_distinct:f
  most_common_vals:t most_common_freqs:F histogram_bounds:t correlation:f most_common_elems:t
  most_common_elem_freqs:F elem_count_histogram:F
pg_stats_ext schemaname:n tablename:n statistics_schemaname:n statistics_name:n statistics_owner:n
  attnames:N exprs:T kinds:C inherited:b n_distinct:t dependencies:t most_common_vals:T
  most_common_val_nulls:B most_common_freqs:F most_common_base_freqs:F
pg_tables schemaname:n tablename:n tableowner:n tablespace:n hasindexes:b hasrules:b hastriggers:b
  rowsecurity:b
pg_user usename:n usesysid:o usecreatedb:b usesuper:b userepl:b usebypassrls:b passwd:t valuntil:z
  useconfig:T
pg_user_mappings umid:o srvid:o srvname:n umuser:o usename:n umoptions:T
pg_views schemaname:n viewname:n viewowner:n definition:t
"""
