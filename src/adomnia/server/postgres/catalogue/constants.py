"""Functions whose answer is the same for all, or depends on the wish alone.

A line is what they return, with how many arguments they are called, and their names.
"""

from __future__ import annotations

__all__ = ["CONSTANT"]

STARTED = "CAST(getvariable('started') AS TIMESTAMP)"

CONSTANT: tuple[tuple[str, tuple[int, ...], str], ...] = (
    ("true", (1,), """pg_collation_is_visible pg_operator_is_visible pg_opclass_is_visible
        pg_opfamily_is_visible pg_conversion_is_visible pg_ts_config_is_visible
        pg_ts_dict_is_visible pg_ts_parser_is_visible pg_ts_template_is_visible
        pg_statistics_obj_is_visible"""),
    ("''", (1,), """pg_get_function_arguments pg_get_function_identity_arguments
        pg_tablespace_location"""),
    ("CAST(NULL AS VARCHAR)", (1, 2), """pg_get_ruledef pg_get_triggerdef pg_get_functiondef
        pg_get_function_sqlbody pg_get_partkeydef pg_get_statisticsobjdef_columns
        pg_get_statisticsobjdef pg_get_partition_constraintdef shobj_description
        pg_get_serial_sequence pg_collation_actual_version pg_relation_filepath
        pg_get_function_arg_default"""),
    ("CAST(NULL AS VARCHAR)", (0,), """inet_server_addr inet_client_addr
        pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp
        txid_current_if_assigned"""),
    ("CAST(NULL AS INTEGER)", (0,), "inet_server_port inet_client_port"),
    ("CAST(NULL AS BIGINT)", (1,), """pg_stat_get_live_tuples pg_stat_get_dead_tuples
        pg_stat_get_numscans pg_stat_get_tuples_inserted pg_relation_filenode"""),
    ("CAST(0 AS BIGINT)", (1, 2), """pg_relation_size pg_table_size pg_total_relation_size
        pg_indexes_size pg_database_size pg_tablespace_size"""),
    ("lower(b) LIKE '%select%'", (2,), "has_table_privilege has_any_column_privilege"),
    ("lower(c) LIKE '%select%'", (3,), """has_table_privilege has_any_column_privilege
        has_column_privilege"""),
    ("lower(d) LIKE '%select%'", (4,), "has_column_privilege"),
    ("lower(b) NOT LIKE '%create%'", (2,), "has_schema_privilege has_database_privilege"),
    ("lower(c) NOT LIKE '%create%'", (3,), "has_schema_privilege has_database_privilege"),
    ("true", (2, 3), "has_function_privilege has_type_privilege has_language_privilege"),
    ("false", (2, 3), """has_sequence_privilege has_tablespace_privilege has_server_privilege
        has_foreign_data_wrapper_privilege"""),
    ("'UTF8'", (0,), "getdatabaseencoding pg_client_encoding"),
    ("1", (0,), "txid_current pg_current_xact_id"),
    ("false", (0, 1), "pg_is_in_recovery pg_is_wal_replay_paused pg_try_advisory_lock"),
    ("''", (0,), "pg_advisory_unlock_all"),
    (STARTED, (0,), "pg_postmaster_start_time pg_conf_load_time"),
    ("false", (1,), """pg_is_other_temp_schema pg_relation_is_publishable pg_cancel_backend
        pg_terminate_backend"""),
    ("b IN ('can_order', 'can_unique', 'can_multi_col')", (2,), "pg_indexam_has_property"),
    ("b IN ('clusterable', 'index_scan', 'bitmap_scan')", (2,), "pg_index_has_property"),
    ("c IN ('asc', 'nulls_last', 'orderable')", (3,), "pg_index_column_has_property"),
    ("CAST(a AS VARCHAR)", (1,), """regoper_out regoperator_out regconfig_out
        regdictionary_out"""),
    ("TRY_CAST(a AS UINTEGER)", (1,), """regoper_in regoperator_in regconfig_in
        regdictionary_in"""),
)  # fmt: skip
