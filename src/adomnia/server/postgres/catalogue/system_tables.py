"""PostgreSQL's own tables, by name, oid and columns; the letter after a column is its type."""

from __future__ import annotations

__all__ = ["SYSTEM_TABLES"]

SYSTEM_TABLES = """
pg_aggregate 2600 aggfnoid:p aggkind:c aggnumdirectargs:s aggtransfn:p aggfinalfn:p aggcombinefn:p
  aggserialfn:p aggdeserialfn:p aggmtransfn:p aggminvtransfn:p aggmfinalfn:p aggfinalextra:b
  aggmfinalextra:b aggfinalmodify:c aggmfinalmodify:c aggsortop:o aggtranstype:o aggtransspace:i
  aggmtranstype:o aggmtransspace:i agginitval:t aggminitval:t
pg_am 2601 oid:o amname:n amhandler:p amtype:c
pg_amop 2602 oid:o amopfamily:o amoplefttype:o amoprighttype:o amopstrategy:s amoppurpose:c
  amopopr:o amopmethod:o amopsortfamily:o
pg_amproc 2603 oid:o amprocfamily:o amproclefttype:o amprocrighttype:o amprocnum:s amproc:p
pg_attrdef 2604 oid:o adrelid:o adnum:s adbin:g
pg_attribute 1249 attrelid:o attname:n atttypid:o attstattarget:i attlen:s attnum:s attndims:i
  attcacheoff:i atttypmod:i attbyval:b attalign:c attstorage:c attcompression:c attnotnull:b
  atthasdef:b atthasmissing:b attidentity:c attgenerated:c attisdropped:b attislocal:b
  attinhcount:i attcollation:o attacl:A attoptions:T attfdwoptions:T attmissingval:t
pg_auth_members 1261 roleid:o member:o grantor:o admin_option:b
pg_authid 1260 oid:o rolname:n rolsuper:b rolinherit:b rolcreaterole:b rolcreatedb:b rolcanlogin:b
  rolreplication:b rolbypassrls:b rolconnlimit:i rolpassword:t rolvaliduntil:z
pg_cast 2605 oid:o castsource:o casttarget:o castfunc:o castcontext:c castmethod:c
pg_class 1259 oid:o relname:n relnamespace:o reltype:o reloftype:o relowner:o relam:o
  relfilenode:o reltablespace:o relpages:i reltuples:f relallvisible:i reltoastrelid:o
  relhasindex:b relisshared:b relpersistence:c relkind:c relnatts:s relchecks:s relhasrules:b
  relhastriggers:b relhassubclass:b relrowsecurity:b relforcerowsecurity:b relispopulated:b
  relreplident:c relispartition:b relrewrite:o relfrozenxid:x relminmxid:x relacl:A reloptions:T
  relpartbound:g
pg_collation 3456 oid:o collname:n collnamespace:o collowner:o collprovider:c
  collisdeterministic:b collencoding:i collcollate:t collctype:t colliculocale:t collversion:t
pg_constraint 2606 oid:o conname:n connamespace:o contype:c condeferrable:b condeferred:b
  convalidated:b conrelid:o contypid:o conindid:o conparentid:o confrelid:o confupdtype:c
  confdeltype:c confmatchtype:c conislocal:b coninhcount:i connoinherit:b conkey:S confkey:S
  conpfeqop:O conppeqop:O conffeqop:O confdelsetcols:S conexclop:O conbin:g
pg_conversion 2607 oid:o conname:n connamespace:o conowner:o conforencoding:i contoencoding:i
  conproc:p condefault:b
pg_database 1262 oid:o datname:n datdba:o encoding:i datlocprovider:c datistemplate:b
  datallowconn:b datconnlimit:i datfrozenxid:x datminmxid:x dattablespace:o datcollate:t
  datctype:t daticulocale:t datcollversion:t datacl:A
pg_db_role_setting 2964 setdatabase:o setrole:o setconfig:T
pg_default_acl 826 oid:o defaclrole:o defaclnamespace:o defaclobjtype:c defaclacl:A
pg_depend 2608 classid:o objid:o objsubid:i refclassid:o refobjid:o refobjsubid:i deptype:c
pg_description 2609 objoid:o classoid:o objsubid:i description:t
pg_enum 3501 oid:o enumtypid:o enumsortorder:f enumlabel:n
pg_event_trigger 3466 oid:o evtname:n evtevent:n evtowner:o evtfoid:o evtenabled:c evttags:T
pg_extension 3079 oid:o extname:n extowner:o extnamespace:o extrelocatable:b extversion:t
  extconfig:O extcondition:T
pg_foreign_data_wrapper 2328 oid:o fdwname:n fdwowner:o fdwhandler:o fdwvalidator:o fdwacl:A
  fdwoptions:T
pg_foreign_server 1417 oid:o srvname:n srvowner:o srvfdw:o srvtype:t srvversion:t srvacl:A
  srvoptions:T
pg_foreign_table 3118 ftrelid:o ftserver:o ftoptions:T
pg_index 2610 indexrelid:o indrelid:o indnatts:s indnkeyatts:s indisunique:b indnullsnotdistinct:b
  indisprimary:b indisexclusion:b indimmediate:b indisclustered:b indisvalid:b indcheckxmin:b
  indisready:b indislive:b indisreplident:b indkey:I indcollation:V indclass:V indoption:I
  indexprs:g indpred:g
pg_inherits 2611 inhrelid:o inhparent:o inhseqno:i inhdetachpending:b
pg_init_privs 3394 objoid:o classoid:o objsubid:i privtype:c initprivs:A
pg_language 2612 oid:o lanname:n lanowner:o lanispl:b lanpltrusted:b lanplcallfoid:o laninline:o
  lanvalidator:o lanacl:A
pg_largeobject_metadata 2995 oid:o lomowner:o lomacl:A
pg_namespace 2615 oid:o nspname:n nspowner:o nspacl:A
pg_opclass 2616 oid:o opcmethod:o opcname:n opcnamespace:o opcowner:o opcfamily:o opcintype:o
  opcdefault:b opckeytype:o
pg_operator 2617 oid:o oprname:n oprnamespace:o oprowner:o oprkind:c oprcanmerge:b oprcanhash:b
  oprleft:o oprright:o oprresult:o oprcom:o oprnegate:o oprcode:p oprrest:p oprjoin:p
pg_opfamily 2753 oid:o opfmethod:o opfname:n opfnamespace:o opfowner:o
pg_parameter_acl 6243 oid:o parname:t paracl:A
pg_partitioned_table 3350 partrelid:o partstrat:c partnatts:s partdefid:o partattrs:I partclass:V
  partcollation:V partexprs:g
pg_policy 3256 oid:o polname:n polrelid:o polcmd:c polpermissive:b polroles:O polqual:g
  polwithcheck:g
pg_proc 1255 oid:o proname:n pronamespace:o proowner:o prolang:o procost:f prorows:f provariadic:o
  prosupport:p prokind:c prosecdef:b proleakproof:b proisstrict:b proretset:b provolatile:c
  proparallel:c pronargs:s pronargdefaults:s prorettype:o proargtypes:V proallargtypes:O
  proargmodes:C proargnames:T proargdefaults:g protrftypes:O prosrc:t probin:t prosqlbody:g
  proconfig:T proacl:A
pg_publication 6104 oid:o pubname:n pubowner:o puballtables:b pubinsert:b pubupdate:b pubdelete:b
  pubtruncate:b pubviaroot:b
pg_publication_namespace 6237 oid:o pnpubid:o pnnspid:o
pg_publication_rel 6106 oid:o prpubid:o prrelid:o prqual:g prattrs:I
pg_range 3541 rngtypid:o rngsubtype:o rngmultitypid:o rngcollation:o rngsubopc:o rngcanonical:p
  rngsubdiff:p
pg_replication_origin 6000 roident:o roname:t
pg_rewrite 2618 oid:o rulename:n ev_class:o ev_type:c ev_enabled:c is_instead:b ev_qual:g
  ev_action:g
pg_seclabel 3596 objoid:o classoid:o objsubid:i provider:t label:t
pg_sequence 2224 seqrelid:o seqtypid:o seqstart:l seqincrement:l seqmax:l seqmin:l seqcache:l
  seqcycle:b
pg_shdepend 1214 dbid:o classid:o objid:o objsubid:i refclassid:o refobjid:o deptype:c
pg_shdescription 2396 objoid:o classoid:o description:t
pg_shseclabel 3592 objoid:o classoid:o provider:t label:t
pg_statistic_ext 3381 oid:o stxrelid:o stxname:n stxnamespace:o stxowner:o stxstattarget:i
  stxkeys:I stxkind:C stxexprs:g
pg_subscription 6100 oid:o subdbid:o subskiplsn:t subname:n subowner:o subenabled:b subbinary:b
  substream:b subtwophasestate:c subdisableonerr:b subconninfo:t subslotname:n subsynccommit:t
  subpublications:T
pg_subscription_rel 6102 srsubid:o srrelid:o srsubstate:c srsublsn:t
pg_tablespace 1213 oid:o spcname:n spcowner:o spcacl:A spcoptions:T
pg_transform 3576 oid:o trftype:o trflang:o trffromsql:p trftosql:p
pg_trigger 2620 oid:o tgrelid:o tgparentid:o tgname:n tgfoid:o tgtype:s tgenabled:c tgisinternal:b
  tgconstrrelid:o tgconstrindid:o tgconstraint:o tgdeferrable:b tginitdeferred:b tgnargs:s
  tgattr:I tgargs:y tgqual:g tgoldtable:n tgnewtable:n
pg_ts_config 3602 oid:o cfgname:n cfgnamespace:o cfgowner:o cfgparser:o
pg_ts_config_map 3603 mapcfg:o maptokentype:i mapseqno:i mapdict:o
pg_ts_dict 3600 oid:o dictname:n dictnamespace:o dictowner:o dicttemplate:o dictinitoption:t
pg_ts_parser 3601 oid:o prsname:n prsnamespace:o prsstart:p prstoken:p prsend:p prsheadline:p
  prslextype:p
pg_ts_template 3764 oid:o tmplname:n tmplnamespace:o tmplinit:p tmpllexize:p
pg_type 1247 oid:o typname:n typnamespace:o typowner:o typlen:s typbyval:b typtype:c typcategory:c
  typispreferred:b typisdefined:b typdelim:c typrelid:o typsubscript:p typelem:o typarray:o
  typinput:p typoutput:p typreceive:p typsend:p typmodin:p typmodout:p typanalyze:p typalign:c
  typstorage:c typnotnull:b typbasetype:o typtypmod:i typndims:i typcollation:o typdefaultbin:g
  typdefault:t typacl:A
pg_user_mapping 1418 oid:o umuser:o umserver:o umoptions:T
"""
