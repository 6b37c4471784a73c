"""PostgreSQL's own types, a line each.

Oid, name, length, four letters (kind, category, alignment, storage), the array's oid, the input
function, the element's oid, the collation.
"""

from __future__ import annotations

__all__ = ["TYPE_ROWS"]

TYPE_ROWS = """
16 bool 1 bBcp 1000 boolin 0 0
17 bytea -1 bUix 1001 byteain 0 0
18 char 1 bZcp 1002 charin 0 0
19 name 64 bScp 1003 namein 18 950
20 int8 8 bNdp 1016 int8in 0 0
21 int2 2 bNsp 1005 int2in 0 0
22 int2vector -1 bAip 1006 int2vectorin 21 0
23 int4 4 bNip 1007 int4in 0 0
24 regproc 4 bNip 1008 regprocin 0 0
25 text -1 bSix 1009 textin 0 100
26 oid 4 bNip 1028 oidin 0 0
27 tid 6 bUsp 1010 tidin 0 0
28 xid 4 bUip 1011 xidin 0 0
29 cid 4 bUip 1012 cidin 0 0
30 oidvector -1 bAip 1013 oidvectorin 26 0
114 json -1 bUix 199 json_in 0 0
142 xml -1 bUix 143 xml_in 0 0
194 pg_node_tree -1 bZix 0 pg_node_tree_in 0 100
600 point 16 bGdp 1017 point_in 701 0
601 lseg 32 bGdp 1018 lseg_in 600 0
602 path -1 bGdx 1019 path_in 0 0
603 box 32 bGdp 1020 box_in 600 0
604 polygon -1 bGdx 1027 poly_in 0 0
628 line 24 bGdp 629 line_in 701 0
650 cidr -1 bIim 651 cidr_in 0 0
700 float4 4 bNip 1021 float4in 0 0
701 float8 8 bNdp 1022 float8in 0 0
705 unknown -2 pXcp 0 unknownin 0 0
718 circle 24 bGdp 719 circle_in 0 0
774 macaddr8 8 bUip 775 macaddr8_in 0 0
790 money 8 bNdp 791 cash_in 0 0
829 macaddr 6 bUip 1040 macaddr_in 0 0
869 inet -1 bIim 1041 inet_in 0 0
1033 aclitem 12 bUip 1034 aclitemin 0 0
1042 bpchar -1 bSix 1014 bpcharin 0 100
1043 varchar -1 bSix 1015 varcharin 0 100
1082 date 4 bDip 1182 date_in 0 0
1083 time 8 bDdp 1183 time_in 0 0
1114 timestamp 8 bDdp 1115 timestamp_in 0 0
1184 timestamptz 8 bDdp 1185 timestamptz_in 0 0
1186 interval 16 bTdp 1187 interval_in 0 0
1266 timetz 12 bDdp 1270 timetz_in 0 0
1560 bit -1 bVix 1561 bit_in 0 0
1562 varbit -1 bVix 1563 varbit_in 0 0
1700 numeric -1 bNim 1231 numeric_in 0 0
1790 refcursor -1 bUix 2201 textin 0 0
2202 regprocedure 4 bNip 2207 regprocedurein 0 0
2203 regoper 4 bNip 2208 regoperin 0 0
2204 regoperator 4 bNip 2209 regoperatorin 0 0
2205 regclass 4 bNip 2210 regclassin 0 0
2206 regtype 4 bNip 2211 regtypein 0 0
2249 record -1 pPdx 2287 record_in 0 0
2275 cstring -2 pPcp 1263 cstring_in 0 0
2276 any 4 pPip 0 any_in 0 0
2277 anyarray -1 pPdx 0 anyarray_in 0 0
2278 void 4 pPip 0 void_in 0 0
2279 trigger 4 pPip 0 trigger_in 0 0
2281 internal 8 pPdp 0 internal_in 0 0
2283 anyelement 4 pPip 0 anyelement_in 0 0
2776 anynonarray 4 pPip 0 anynonarray_in 0 0
2950 uuid 16 bUcp 2951 uuid_in 0 0
2970 txid_snapshot -1 bUdx 2949 txid_snapshot_in 0 0
3220 pg_lsn 8 bUdp 3221 pg_lsn_in 0 0
3500 anyenum 4 pPip 0 anyenum_in 0 0
3614 tsvector -1 bUix 3643 tsvectorin 0 0
3615 tsquery -1 bUip 3645 tsqueryin 0 0
3734 regconfig 4 bNip 3735 regconfigin 0 0
3769 regdictionary 4 bNip 3770 regdictionaryin 0 0
3802 jsonb -1 bUix 3807 jsonb_in 0 0
3831 anyrange -1 pPdx 0 anyrange_in 0 0
3904 int4range -1 rRix 3905 range_in 0 0
3906 numrange -1 rRix 3907 range_in 0 0
3908 tsrange -1 rRdx 3909 range_in 0 0
3910 tstzrange -1 rRdx 3911 range_in 0 0
3912 daterange -1 rRix 3913 range_in 0 0
3926 int8range -1 rRdx 3927 range_in 0 0
4072 jsonpath -1 bUix 4073 jsonpath_in 0 0
4089 regnamespace 4 bNip 4090 regnamespacein 0 0
4096 regrole 4 bNip 4097 regrolein 0 0
4191 regcollation 4 bNip 4192 regcollationin 0 0
4451 int4multirange -1 mRix 6150 multirange_in 0 0
4532 nummultirange -1 mRix 6151 multirange_in 0 0
4533 tsmultirange -1 mRdx 6152 multirange_in 0 0
4534 tstzmultirange -1 mRdx 6153 multirange_in 0 0
4535 datemultirange -1 mRix 6155 multirange_in 0 0
4536 int8multirange -1 mRdx 6157 multirange_in 0 0
4537 anymultirange -1 pPdx 0 anymultirange_in 0 0
4538 anycompatiblemultirange -1 pPdx 0 anycompatiblemultirange_in 0 0
5038 pg_snapshot -1 bUdx 5039 pg_snapshot_in 0 0
5069 xid8 8 bUdp 271 xid8in 0 0
5077 anycompatible 4 pPip 0 anycompatible_in 0 0
5078 anycompatiblearray -1 pPdx 0 anycompatiblearray_in 0 0
5079 anycompatiblenonarray 4 pPip 0 anycompatiblenonarray_in 0 0
5080 anycompatiblerange -1 pPdx 0 anycompatiblerange_in 0 0
"""
