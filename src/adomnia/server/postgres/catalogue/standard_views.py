"""The views of `information_schema`, by name and columns; the letter is a column's type."""

from __future__ import annotations

__all__ = ["STANDARD_VIEWS"]

STANDARD_VIEWS = """
applicable_roles grantee:n role_name:n is_grantable:v
character_sets character_set_catalog:n character_set_schema:n character_set_name:n
  character_repertoire:n form_of_use:n default_collate_catalog:n default_collate_schema:n
  default_collate_name:n
check_constraints constraint_catalog:n constraint_schema:n constraint_name:n check_clause:v
collations collation_catalog:n collation_schema:n collation_name:n pad_attribute:v
column_privileges grantor:n grantee:n table_catalog:n table_schema:n table_name:n column_name:n
  privilege_type:v is_grantable:v
columns table_catalog:n table_schema:n table_name:n column_name:n ordinal_position:i
  column_default:v is_nullable:v data_type:v character_maximum_length:i character_octet_length:i
  numeric_precision:i numeric_precision_radix:i numeric_scale:i datetime_precision:i
  interval_type:v interval_precision:i character_set_catalog:n character_set_schema:n
  character_set_name:n collation_catalog:n collation_schema:n collation_name:n domain_catalog:n
  domain_schema:n domain_name:n udt_catalog:n udt_schema:n udt_name:n scope_catalog:n
  scope_schema:n scope_name:n maximum_cardinality:i dtd_identifier:n is_self_referencing:v
  is_identity:v identity_generation:v identity_start:v identity_increment:v identity_maximum:v
  identity_minimum:v identity_cycle:v is_generated:v generation_expression:v is_updatable:v
constraint_column_usage table_catalog:n table_schema:n table_name:n column_name:n
  constraint_catalog:n constraint_schema:n constraint_name:n
constraint_table_usage table_catalog:n table_schema:n table_name:n constraint_catalog:n
  constraint_schema:n constraint_name:n
domain_constraints constraint_catalog:n constraint_schema:n constraint_name:n domain_catalog:n
  domain_schema:n domain_name:n is_deferrable:v initially_deferred:v
domains domain_catalog:n domain_schema:n domain_name:n data_type:v character_maximum_length:i
  character_octet_length:i character_set_catalog:n character_set_schema:n character_set_name:n
  collation_catalog:n collation_schema:n collation_name:n numeric_precision:i
  numeric_precision_radix:i numeric_scale:i datetime_precision:i interval_type:v
  interval_precision:i domain_default:v udt_catalog:n udt_schema:n udt_name:n scope_catalog:n
  scope_schema:n scope_name:n maximum_cardinality:i dtd_identifier:n
element_types object_catalog:n object_schema:n object_name:n object_type:v
  collection_type_identifier:n data_type:v character_maximum_length:i character_octet_length:i
  character_set_catalog:n character_set_schema:n character_set_name:n collation_catalog:n
  collation_schema:n collation_name:n numeric_precision:i numeric_precision_radix:i
  numeric_scale:i datetime_precision:i interval_type:v interval_precision:i domain_default:v
  udt_catalog:n udt_schema:n udt_name:n scope_catalog:n scope_schema:n scope_name:n
  maximum_cardinality:i dtd_identifier:n
enabled_roles role_name:n
foreign_data_wrappers foreign_data_wrapper_catalog:n foreign_data_wrapper_name:n
  authorization_identifier:n library_name:v foreign_data_wrapper_language:v
foreign_servers foreign_server_catalog:n foreign_server_name:n foreign_data_wrapper_catalog:n
  foreign_data_wrapper_name:n foreign_server_type:v foreign_server_version:v
  authorization_identifier:n
foreign_tables foreign_table_catalog:n foreign_table_schema:n foreign_table_name:n
  foreign_server_catalog:n foreign_server_name:n
information_schema_catalog_name catalog_name:n
key_column_usage constraint_catalog:n constraint_schema:n constraint_name:n table_catalog:n
  table_schema:n table_name:n column_name:n ordinal_position:i position_in_unique_constraint:i
parameters specific_catalog:n specific_schema:n specific_name:n ordinal_position:i
  parameter_mode:v is_result:v as_locator:v parameter_name:n data_type:v
  character_maximum_length:i character_octet_length:i character_set_catalog:n
  character_set_schema:n character_set_name:n collation_catalog:n collation_schema:n
  collation_name:n numeric_precision:i numeric_precision_radix:i numeric_scale:i
  datetime_precision:i interval_type:v interval_precision:i udt_catalog:n udt_schema:n udt_name:n
  scope_catalog:n scope_schema:n scope_name:n maximum_cardinality:i dtd_identifier:n
  parameter_default:v
referential_constraints constraint_catalog:n constraint_schema:n constraint_name:n
  unique_constraint_catalog:n unique_constraint_schema:n unique_constraint_name:n match_option:v
  update_rule:v delete_rule:v
role_table_grants grantor:n grantee:n table_catalog:n table_schema:n table_name:n privilege_type:v
  is_grantable:v with_hierarchy:v
routines specific_catalog:n specific_schema:n specific_name:n routine_catalog:n routine_schema:n
  routine_name:n routine_type:v module_catalog:n module_schema:n module_name:n udt_catalog:n
  udt_schema:n udt_name:n data_type:v character_maximum_length:i character_octet_length:i
  character_set_catalog:n character_set_schema:n character_set_name:n collation_catalog:n
  collation_schema:n collation_name:n numeric_precision:i numeric_precision_radix:i
  numeric_scale:i datetime_precision:i interval_type:v interval_precision:i type_udt_catalog:n
  type_udt_schema:n type_udt_name:n scope_catalog:n scope_schema:n scope_name:n
  maximum_cardinality:i dtd_identifier:n routine_body:v routine_definition:v external_name:v
  external_language:v parameter_style:v is_deterministic:v sql_data_access:v is_null_call:v
  sql_path:v schema_level_routine:v max_dynamic_result_sets:i is_user_defined_cast:v
  is_implicitly_invocable:v security_type:v to_sql_specific_catalog:n to_sql_specific_schema:n
  to_sql_specific_name:n as_locator:v created:z last_altered:z new_savepoint_level:v
  is_udt_dependent:v result_cast_from_data_type:v result_cast_as_locator:v
  result_cast_char_max_length:i result_cast_char_octet_length:i result_cast_char_set_catalog:n
  result_cast_char_set_schema:n result_cast_char_set_name:n result_cast_collation_catalog:n
  result_cast_collation_schema:n result_cast_collation_name:n result_cast_numeric_precision:i
  result_cast_numeric_precision_radix:i result_cast_numeric_scale:i
  result_cast_datetime_precision:i result_cast_interval_type:v result_cast_interval_precision:i
  result_cast_type_udt_catalog:n result_cast_type_udt_schema:n result_cast_type_udt_name:n
  result_cast_scope_catalog:n result_cast_scope_schema:n result_cast_scope_name:n
  result_cast_maximum_cardinality:i result_cast_dtd_identifier:n
schemata catalog_name:n schema_name:n schema_owner:n default_character_set_catalog:n
  default_character_set_schema:n default_character_set_name:n sql_path:v
sequences sequence_catalog:n sequence_schema:n sequence_name:n data_type:v numeric_precision:i
  numeric_precision_radix:i numeric_scale:i start_value:v minimum_value:v maximum_value:v
  increment:v cycle_option:v
table_constraints constraint_catalog:n constraint_schema:n constraint_name:n table_catalog:n
  table_schema:n table_name:n constraint_type:v is_deferrable:v initially_deferred:v enforced:v
  nulls_distinct:v
table_privileges grantor:n grantee:n table_catalog:n table_schema:n table_name:n privilege_type:v
  is_grantable:v with_hierarchy:v
tables table_catalog:n table_schema:n table_name:n table_type:v self_referencing_column_name:n
  reference_generation:v user_defined_type_catalog:n user_defined_type_schema:n
  user_defined_type_name:n is_insertable_into:v is_typed:v commit_action:v
triggers trigger_catalog:n trigger_schema:n trigger_name:n event_manipulation:v
  event_object_catalog:n event_object_schema:n event_object_table:n action_order:i
  action_condition:v action_statement:v action_orientation:v action_timing:v
  action_reference_old_table:n action_reference_new_table:n action_reference_old_row:n
  action_reference_new_row:n created:z
view_column_usage view_catalog:n view_schema:n view_name:n table_catalog:n table_schema:n
  table_name:n column_name:n
view_table_usage view_catalog:n view_schema:n view_name:n table_catalog:n table_schema:n
  table_name:n
views table_catalog:n table_schema:n table_name:n view_definition:v check_option:v is_updatable:v
  is_insertable_into:v is_trigger_updatable:v is_trigger_deletable:v is_trigger_insertable_into:v
"""
