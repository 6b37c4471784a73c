-- PostgreSQL's functions on its catalogue, written for DuckDB. What connections differ in
-- (`settings`, `pid`, `started`) are variables of their own.
-- A function that gives rows is empty here.

CREATE MACRO fn.current_schema() AS 'public';
CREATE MACRO fn.current_schemas(a) AS
        CASE WHEN a THEN ['pg_catalog', 'public'] ELSE ['public'] END;
CREATE MACRO fn.version() AS 'PostgreSQL 15.0 (' || CAST(getvariable('product') AS VARCHAR) || ')';
CREATE MACRO fn.current_setting(a) AS
        CAST(getvariable('settings') AS MAP(VARCHAR, VARCHAR))[lower(a)],
    (a, b) AS CAST(getvariable('settings') AS MAP(VARCHAR, VARCHAR))[lower(a)];
CREATE MACRO fn.pg_backend_pid() AS CAST(getvariable('pid') AS INTEGER);
CREATE MACRO fn.pg_table_is_visible(a) AS
        COALESCE((SELECT max(x.relnamespace IN (11, 2200))
            FROM cat.pg_class AS x
            WHERE x.oid = a), false);
CREATE MACRO fn.pg_type_is_visible(a) AS
        COALESCE((SELECT max(x.typnamespace IN (11, 2200))
            FROM cat.pg_type AS x
            WHERE x.oid = a), false);
CREATE MACRO fn.pg_function_is_visible(a) AS
        COALESCE((SELECT max(x.pronamespace IN (11, 2200))
            FROM cat.pg_proc AS x
            WHERE x.oid = a), false);
CREATE MACRO fn.obj_description(a) AS
        (SELECT max(d.description)
            FROM cat.pg_description AS d
            WHERE d.objoid = a AND d.objsubid = 0),
    (a, b) AS
        CASE
            WHEN b = 'pg_class' THEN (SELECT max(d.description)
            FROM cat.pg_description AS d
            WHERE d.objoid = a AND d.objsubid = 0) END;
CREATE MACRO fn.col_description(a, b) AS
        (SELECT max(d.description)
            FROM cat.pg_description AS d
            WHERE d.objoid = a AND d.objsubid = b);
CREATE MACRO fn.pg_get_function_result(a) AS 'internal';
CREATE MACRO fn.pg_get_constraintdef(a) AS
        (SELECT max(x.definition) FROM cat.definitions AS x WHERE x.oid = a),
    (a, b) AS (SELECT max(x.definition) FROM cat.definitions AS x WHERE x.oid = a);
CREATE MACRO fn.pg_get_expr(a, b) AS CAST(a AS VARCHAR), (a, b, c) AS CAST(a AS VARCHAR);
CREATE MACRO fn.pg_size_pretty(a) AS a || ' bytes';
CREATE MACRO fn.pg_has_role(a, b) AS CAST(a AS VARCHAR) IN ('16386', fn.current_user()),
    (a, b, c) AS CAST(b AS VARCHAR) IN ('16386', fn.current_user());
CREATE MACRO fn.pg_encoding_to_char(a) AS
        CASE a WHEN 6 THEN 'UTF8' WHEN 0 THEN 'SQL_ASCII' ELSE '' END;
CREATE MACRO fn.pg_char_to_encoding(a) AS
        CASE upper(a) WHEN 'UTF8' THEN 6 WHEN 'SQL_ASCII' THEN 0 ELSE -1 END;
CREATE MACRO fn.quote_ident(a) AS
        CASE WHEN regexp_matches(a, '^[a-z_][a-z0-9_$]*$') THEN a
            ELSE '"' || replace(a, '"', '""') || '"' END;
CREATE MACRO fn.quote_literal(a) AS '''' || replace(CAST(a AS VARCHAR), '''', '''''') || '''';
CREATE MACRO fn.quote_nullable(a) AS
        COALESCE('''' || replace(CAST(a AS VARCHAR), '''', '''''') || '''', 'NULL');
CREATE MACRO fn.pg_my_temp_schema() AS CAST(0 AS UINTEGER);
CREATE MACRO fn.pg_relation_is_updatable(a, b) AS 0;
CREATE MACRO fn.pg_column_is_updatable(a, b, c) AS false;
CREATE MACRO fn.array_to_string(a, b) AS list_aggregate(a, 'string_agg', b),
    (a, b, c) AS list_aggregate([COALESCE(CAST(x AS VARCHAR), c) FOR x IN a], 'string_agg', b);
CREATE MACRO fn.array_upper(a, b) AS CASE WHEN len(a) > 0 THEN CAST(len(a) AS INTEGER) END;
CREATE MACRO fn.array_length(a, b) AS CASE WHEN len(a) > 0 THEN CAST(len(a) AS INTEGER) END;
CREATE MACRO fn.array_lower(a, b) AS CASE WHEN len(a) > 0 THEN 1 END;
CREATE MACRO fn.array_ndims(a) AS CASE WHEN len(a) > 0 THEN 1 END;
CREATE MACRO fn.array_dims(a) AS CASE WHEN len(a) > 0 THEN '[1:' || len(a) || ']' END;
CREATE MACRO fn.cardinality(a) AS CAST(len(a) AS INTEGER);
CREATE MACRO fn.array_remove(a, b) AS [x FOR x IN a IF x IS DISTINCT FROM b];
CREATE MACRO fn.array_position(a, b) AS CAST(list_position(a, b) AS INTEGER);
CREATE MACRO fn.string_to_array(a, b) AS string_split(a, b);
CREATE MACRO fn._pg_expandarray(a) AS
        unnest([struct_pack(x := a[i], n := CAST(i AS INTEGER))
            FOR i IN generate_series(1, len(a))]);
CREATE MACRO fn._pg_char_max_length(a, b) AS CAST(NULL AS INTEGER);
CREATE MACRO fn.regclass_out(a) AS
        CASE WHEN a = 0 THEN '-'
            ELSE COALESCE((SELECT max(x.shown)
            FROM cat.shown_classes AS x
            WHERE x.oid = a), CAST(a AS VARCHAR)) END;
CREATE MACRO fn.regtype_out(a) AS
        CASE WHEN a = 0 THEN '-'
            ELSE COALESCE((SELECT max(x.shown)
            FROM cat.shown_types AS x
            WHERE x.oid = a), CAST(a AS VARCHAR)) END;
CREATE MACRO fn.regproc_out(a) AS
        CASE WHEN a = 0 THEN '-'
            ELSE COALESCE((SELECT max(x.proname)
            FROM cat.pg_proc AS x
            WHERE x.oid = a), CAST(a AS VARCHAR)) END;
CREATE MACRO fn.regprocedure_out(a) AS
        CASE WHEN a = 0 THEN '-'
            ELSE COALESCE((SELECT max(x.proname)
            FROM cat.pg_proc AS x
            WHERE x.oid = a), CAST(a AS VARCHAR)) END;
CREATE MACRO fn.regnamespace_out(a) AS
        CASE WHEN a = 0 THEN '-'
            ELSE COALESCE((SELECT max(x.nspname)
            FROM cat.pg_namespace AS x
            WHERE x.oid = a), CAST(a AS VARCHAR)) END;
CREATE MACRO fn.regrole_out(a) AS
        CASE WHEN a = 0 THEN '-'
            ELSE COALESCE((SELECT max(x.rolname)
            FROM cat.pg_authid AS x
            WHERE x.oid = a), CAST(a AS VARCHAR)) END;
CREATE MACRO fn.regcollation_out(a) AS
        CASE WHEN a = 0 THEN '-'
            ELSE COALESCE((SELECT max(x.collname)
            FROM cat.pg_collation AS x
            WHERE x.oid = a), CAST(a AS VARCHAR)) END;
CREATE MACRO fn.regclass_in(a) AS
        COALESCE(TRY_CAST(CAST(a AS VARCHAR) AS UINTEGER), (SELECT min(x.oid)
            FROM cat.class_names AS x
            WHERE x.name = replace(replace(CAST(a AS VARCHAR), 'pg_catalog.', ''), '"', '')));
CREATE MACRO fn.regtype_in(a) AS
        COALESCE(TRY_CAST(CAST(a AS VARCHAR) AS UINTEGER), (SELECT min(x.oid)
            FROM cat.type_names AS x
            WHERE x.name = replace(replace(CAST(a AS VARCHAR), 'pg_catalog.', ''), '"', '')));
CREATE MACRO fn.regproc_in(a) AS
        COALESCE(TRY_CAST(CAST(a AS VARCHAR) AS UINTEGER), (SELECT min(x.oid)
            FROM cat.pg_proc AS x
            WHERE x.proname = replace(replace(CAST(a AS VARCHAR), 'pg_catalog.', ''), '"', '')));
CREATE MACRO fn.regprocedure_in(a) AS
        COALESCE(TRY_CAST(CAST(a AS VARCHAR) AS UINTEGER), (SELECT min(x.oid)
            FROM cat.pg_proc AS x
            WHERE x.proname = replace(replace(CAST(a AS VARCHAR), 'pg_catalog.', ''), '"', '')));
CREATE MACRO fn.regnamespace_in(a) AS
        COALESCE(TRY_CAST(CAST(a AS VARCHAR) AS UINTEGER), (SELECT min(x.oid)
            FROM cat.pg_namespace AS x
            WHERE x.nspname = replace(replace(CAST(a AS VARCHAR), 'pg_catalog.', ''), '"', '')));
CREATE MACRO fn.regrole_in(a) AS
        COALESCE(TRY_CAST(CAST(a AS VARCHAR) AS UINTEGER), (SELECT min(x.oid)
            FROM cat.pg_authid AS x
            WHERE x.rolname = replace(replace(CAST(a AS VARCHAR), 'pg_catalog.', ''), '"', '')));
CREATE MACRO fn.regcollation_in(a) AS
        COALESCE(TRY_CAST(CAST(a AS VARCHAR) AS UINTEGER), (SELECT min(x.oid)
            FROM cat.pg_collation AS x
            WHERE x.collname = replace(replace(CAST(a AS VARCHAR), 'pg_catalog.', ''), '"', '')));
CREATE MACRO fn.pg_collation_is_visible(a) AS true;
CREATE MACRO fn.pg_operator_is_visible(a) AS true;
CREATE MACRO fn.pg_opclass_is_visible(a) AS true;
CREATE MACRO fn.pg_opfamily_is_visible(a) AS true;
CREATE MACRO fn.pg_conversion_is_visible(a) AS true;
CREATE MACRO fn.pg_ts_config_is_visible(a) AS true;
CREATE MACRO fn.pg_ts_dict_is_visible(a) AS true;
CREATE MACRO fn.pg_ts_parser_is_visible(a) AS true;
CREATE MACRO fn.pg_ts_template_is_visible(a) AS true;
CREATE MACRO fn.pg_statistics_obj_is_visible(a) AS true;
CREATE MACRO fn.pg_get_function_arguments(a) AS '';
CREATE MACRO fn.pg_get_function_identity_arguments(a) AS '';
CREATE MACRO fn.pg_tablespace_location(a) AS '';
CREATE MACRO fn.pg_get_ruledef(a) AS CAST(NULL AS VARCHAR), (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_triggerdef(a) AS CAST(NULL AS VARCHAR), (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_functiondef(a) AS CAST(NULL AS VARCHAR), (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_function_sqlbody(a) AS CAST(NULL AS VARCHAR),
    (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_partkeydef(a) AS CAST(NULL AS VARCHAR), (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_statisticsobjdef_columns(a) AS CAST(NULL AS VARCHAR),
    (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_statisticsobjdef(a) AS CAST(NULL AS VARCHAR),
    (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_partition_constraintdef(a) AS CAST(NULL AS VARCHAR),
    (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.shobj_description(a) AS CAST(NULL AS VARCHAR), (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_serial_sequence(a) AS CAST(NULL AS VARCHAR),
    (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_collation_actual_version(a) AS CAST(NULL AS VARCHAR),
    (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_relation_filepath(a) AS CAST(NULL AS VARCHAR), (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_get_function_arg_default(a) AS CAST(NULL AS VARCHAR),
    (a, b) AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.inet_server_addr() AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.inet_client_addr() AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_last_wal_receive_lsn() AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_last_wal_replay_lsn() AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.pg_last_xact_replay_timestamp() AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.txid_current_if_assigned() AS CAST(NULL AS VARCHAR);
CREATE MACRO fn.inet_server_port() AS CAST(NULL AS INTEGER);
CREATE MACRO fn.inet_client_port() AS CAST(NULL AS INTEGER);
CREATE MACRO fn.pg_stat_get_live_tuples(a) AS CAST(NULL AS BIGINT);
CREATE MACRO fn.pg_stat_get_dead_tuples(a) AS CAST(NULL AS BIGINT);
CREATE MACRO fn.pg_stat_get_numscans(a) AS CAST(NULL AS BIGINT);
CREATE MACRO fn.pg_stat_get_tuples_inserted(a) AS CAST(NULL AS BIGINT);
CREATE MACRO fn.pg_relation_filenode(a) AS CAST(NULL AS BIGINT);
CREATE MACRO fn.pg_relation_size(a) AS CAST(0 AS BIGINT), (a, b) AS CAST(0 AS BIGINT);
CREATE MACRO fn.pg_table_size(a) AS CAST(0 AS BIGINT), (a, b) AS CAST(0 AS BIGINT);
CREATE MACRO fn.pg_total_relation_size(a) AS CAST(0 AS BIGINT), (a, b) AS CAST(0 AS BIGINT);
CREATE MACRO fn.pg_indexes_size(a) AS CAST(0 AS BIGINT), (a, b) AS CAST(0 AS BIGINT);
CREATE MACRO fn.pg_database_size(a) AS CAST(0 AS BIGINT), (a, b) AS CAST(0 AS BIGINT);
CREATE MACRO fn.pg_tablespace_size(a) AS CAST(0 AS BIGINT), (a, b) AS CAST(0 AS BIGINT);
CREATE MACRO fn.has_table_privilege(a, b) AS lower(b) LIKE '%select%',
    (a, b, c) AS lower(c) LIKE '%select%';
CREATE MACRO fn.has_any_column_privilege(a, b) AS lower(b) LIKE '%select%',
    (a, b, c) AS lower(c) LIKE '%select%';
CREATE MACRO fn.has_column_privilege(a, b, c) AS lower(c) LIKE '%select%',
    (a, b, c, d) AS lower(d) LIKE '%select%';
CREATE MACRO fn.has_schema_privilege(a, b) AS lower(b) NOT LIKE '%create%',
    (a, b, c) AS lower(c) NOT LIKE '%create%';
CREATE MACRO fn.has_database_privilege(a, b) AS lower(b) NOT LIKE '%create%',
    (a, b, c) AS lower(c) NOT LIKE '%create%';
CREATE MACRO fn.has_function_privilege(a, b) AS true, (a, b, c) AS true;
CREATE MACRO fn.has_type_privilege(a, b) AS true, (a, b, c) AS true;
CREATE MACRO fn.has_language_privilege(a, b) AS true, (a, b, c) AS true;
CREATE MACRO fn.has_sequence_privilege(a, b) AS false, (a, b, c) AS false;
CREATE MACRO fn.has_tablespace_privilege(a, b) AS false, (a, b, c) AS false;
CREATE MACRO fn.has_server_privilege(a, b) AS false, (a, b, c) AS false;
CREATE MACRO fn.has_foreign_data_wrapper_privilege(a, b) AS false, (a, b, c) AS false;
CREATE MACRO fn.getdatabaseencoding() AS 'UTF8';
CREATE MACRO fn.pg_client_encoding() AS 'UTF8';
CREATE MACRO fn.txid_current() AS 1;
CREATE MACRO fn.pg_current_xact_id() AS 1;
CREATE MACRO fn.pg_is_in_recovery() AS false, (a) AS false;
CREATE MACRO fn.pg_is_wal_replay_paused() AS false, (a) AS false;
CREATE MACRO fn.pg_try_advisory_lock() AS false, (a) AS false;
CREATE MACRO fn.pg_advisory_unlock_all() AS '';
CREATE MACRO fn.pg_postmaster_start_time() AS CAST(getvariable('started') AS TIMESTAMP);
CREATE MACRO fn.pg_conf_load_time() AS CAST(getvariable('started') AS TIMESTAMP);
CREATE MACRO fn.pg_is_other_temp_schema(a) AS false;
CREATE MACRO fn.pg_relation_is_publishable(a) AS false;
CREATE MACRO fn.pg_cancel_backend(a) AS false;
CREATE MACRO fn.pg_terminate_backend(a) AS false;
CREATE MACRO fn.pg_indexam_has_property(a, b) AS b IN ('can_order', 'can_unique', 'can_multi_col');
CREATE MACRO fn.pg_index_has_property(a, b) AS b IN ('clusterable', 'index_scan', 'bitmap_scan');
CREATE MACRO fn.pg_index_column_has_property(a, b, c) AS c IN ('asc', 'nulls_last', 'orderable');
CREATE MACRO fn.regoper_out(a) AS CAST(a AS VARCHAR);
CREATE MACRO fn.regoperator_out(a) AS CAST(a AS VARCHAR);
CREATE MACRO fn.regconfig_out(a) AS CAST(a AS VARCHAR);
CREATE MACRO fn.regdictionary_out(a) AS CAST(a AS VARCHAR);
CREATE MACRO fn.regoper_in(a) AS TRY_CAST(a AS UINTEGER);
CREATE MACRO fn.regoperator_in(a) AS TRY_CAST(a AS UINTEGER);
CREATE MACRO fn.regconfig_in(a) AS TRY_CAST(a AS UINTEGER);
CREATE MACRO fn.regdictionary_in(a) AS TRY_CAST(a AS UINTEGER);
CREATE MACRO fn.regclass_outs(a) AS
        (SELECT array_agg(fn.regclass_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regtype_outs(a) AS
        (SELECT array_agg(fn.regtype_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regproc_outs(a) AS
        (SELECT array_agg(fn.regproc_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regprocedure_outs(a) AS
        (SELECT array_agg(fn.regprocedure_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regnamespace_outs(a) AS
        (SELECT array_agg(fn.regnamespace_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regrole_outs(a) AS
        (SELECT array_agg(fn.regrole_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regoper_outs(a) AS
        (SELECT array_agg(fn.regoper_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regoperator_outs(a) AS
        (SELECT array_agg(fn.regoperator_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regcollation_outs(a) AS
        (SELECT array_agg(fn.regcollation_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regconfig_outs(a) AS
        (SELECT array_agg(fn.regconfig_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.regdictionary_outs(a) AS
        (SELECT array_agg(fn.regdictionary_out(u.x) ORDER BY u.n)
            FROM unnest(a) WITH ORDINALITY AS u(x, n));
CREATE MACRO fn.aclexplode() AS
    TABLE SELECT CAST(0 AS UINTEGER) AS grantor, CAST(0 AS UINTEGER) AS grantee,
        '' AS privilege_type, false AS is_grantable
            WHERE false;
CREATE MACRO fn.pg_options_to_table() AS
    TABLE SELECT '' AS option_name, '' AS option_value WHERE false;
CREATE MACRO fn.pg_get_keywords() AS
    TABLE SELECT '' AS word, '' AS catcode, false AS barelabel, '' AS catdesc, '' AS baredesc
            WHERE false;
CREATE MACRO fn.pg_timezone_names() AS
    TABLE SELECT '' AS name, '' AS abbrev, '' AS utc_offset, false AS is_dst WHERE false;
CREATE MACRO fn.pg_partition_ancestors() AS TABLE SELECT CAST(0 AS UINTEGER) AS relid WHERE false;
CREATE MACRO fn.pg_partition_tree() AS
    TABLE SELECT CAST(0 AS UINTEGER) AS relid, CAST(0 AS UINTEGER) AS parentrelid,
        false AS isleaf, 0 AS level
            WHERE false;
CREATE MACRO fn.pg_listening_channels() AS TABLE SELECT '' AS pg_listening_channels WHERE false;
CREATE MACRO fn.pg_get_publication_tables() AS
    TABLE SELECT CAST(0 AS UINTEGER) AS relid WHERE false;
CREATE MACRO fn.pg_lock_status() AS TABLE SELECT '' AS locktype WHERE false;
