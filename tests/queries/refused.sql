SELECT * FROM people
       ^
=> single rows are never shown

SELECT age FROM people
       ^
=> 'age' is neither aggregated nor in GROUP BY

SELECT COUNT(*), age FROM people
                 ^
=> 'age' is neither aggregated nor in GROUP BY

SELECT sex, age, COUNT(*) FROM people GROUP BY sex
            ^
=> 'age' is neither aggregated nor in GROUP BY

SELECT p.* FROM people p
       ^
=> single rows are never shown

SELECT COUNT(*) FROM people GROUP BY sex HAVING age > 3
                                                ^
=> 'age' is neither aggregated nor in GROUP BY

SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY age
                                                       ^
=> 'age' is neither aggregated nor in GROUP BY

SELECT DISTINCT sex, COUNT(*) FROM people
                ^
=> DISTINCT cannot stand beside aggregates or groups

SELECT * FROM people LIMIT 10
       ^
=> single rows are never shown

SELECT * FROM people WHERE 1 = 1
       ^
=> single rows are never shown

SELECT age FROM people WHERE age < -1
       ^
=> 'age' is neither aggregated nor in GROUP BY

SELECT COUNT(*) FROM people, people AS q
                             ^
=> 'q' is not joined on the unit: its rows may belong to another of person_id

SELECT COUNT(*) FROM people CROSS JOIN regions
                                       ^
=> a public table is joined by JOIN or LEFT JOIN

SELECT COUNT(*) FROM people RIGHT JOIN regions USING (region_id)
                                       ^
=> a public table is joined by JOIN or LEFT JOIN

SELECT COUNT(*) FROM people FULL JOIN regions USING (region_id)
                                      ^
=> a public table is joined by JOIN or LEFT JOIN

SELECT COUNT(*) FROM people NATURAL JOIN regions
                                         ^
=> a public table is joined by JOIN or LEFT JOIN

SELECT COUNT(*) FROM people JOIN regions ON people.age > regions.zone
                                 ^
=> a public table is joined on its key 'region_id'

SELECT COUNT(*) FROM people JOIN regions ON people.age = regions.zone
                                            ^
=> a public table is joined on its key 'region_id'

SELECT COUNT(*) FROM people JOIN regions USING (zone)
                                 ^
=> a public table is joined on its key 'region_id'

SELECT COUNT(*) FROM regions
                     ^
=> there is no private table 'regions'

SELECT COUNT(*) FROM nowhere
                     ^
=> there is no private table 'nowhere'

SELECT COUNT(*) FROM people JOIN nowhere USING (region_id)
                                 ^
=> there is no private table 'nowhere'

SELECT COUNT(*) FROM other.people
                     ^
=> there is no private table 'other.people'

SELECT COUNT(*) FROM generate_series(1, 10)
                     ^
=> functions cannot stand in FROM

SELECT COUNT(*) FROM people TABLESAMPLE BERNOULLI (10)
                     ^
=> this is not understood here: SAMPLE

SELECT COUNT(*) FROM LATERAL (SELECT 1) t
                                     ^
=> only a table, a CTE or a subquery can stand in FROM

SELECT COUNT(*)
       ^
=> a question needs a FROM

SELECT 1
       ^
=> a question needs a FROM

SELECT COUNT(*) OVER (PARTITION BY sex) FROM people
       ^
=> window functions over rows cannot be answered privately

SELECT ROW_NUMBER() OVER () FROM people
       ^
=> window functions over rows cannot be answered privately

SELECT SUM(age) OVER w FROM people WINDOW w AS (ORDER BY age)
       ^
=> window functions over rows cannot be answered privately

SELECT COUNT(*) FROM people WHERE random() < 0.5
                                  ^
=> RAND is not supported: its range cannot be derived

SELECT COUNT(*) FROM people WHERE admitted < now()
                                             ^
=> CURRENT_TIMESTAMP is not supported: its range cannot be derived

SELECT COUNT(*) FROM people WHERE admitted < CURRENT_DATE
                                  ^
=> CURRENT_DATE is not supported: its range cannot be derived

SELECT SUM(random()) FROM people
           ^
=> RAND is not supported: its range cannot be derived

SELECT COUNT(*) FROM people WHERE pg_sleep(10) IS NULL
                                  ^
=> PG_SLEEP is not supported: its range cannot be derived

SELECT nextval('s') FROM people
       ^
=> NEXTVAL is not supported: its range cannot be derived

SELECT SUM(TAN(age)) FROM people
           ^
=> TAN is not supported: its range cannot be derived

SELECT SUM(EXP(age)) FROM people
           ^
=> the power of e can become too large to be computed exactly

SELECT SUM(name) FROM people
           ^
=> a number is needed here

SELECT AVG(sex) FROM people
           ^
=> a number is needed here

SELECT SUM(POWER(income, 8)) FROM people
           ^
=> the result can become too large to be computed exactly

SELECT SUM(POWER(age, 0.5)) FROM people
                      ^
=> a whole number written out is needed here

SELECT STRING_AGG(name, ',') FROM people
                  ^
=> GROUP_CONCAT cannot be answered privately

SELECT ARRAY_AGG(age) FROM people
       ^
=> ARRAY_AGG cannot be answered privately

SELECT COUNT(DISTINCT age, sex) FROM people
                      ^
=> COUNT(DISTINCT …) takes one expression

SELECT SUM(DISTINCT age) FROM people
       ^
=> DISTINCT is allowed in COUNT only

SELECT SUM(1) FROM people
           ^
=> a constant cannot be aggregated

SELECT SUM(COUNT(*)) FROM people
           ^
=> an aggregate cannot stand inside another or in WHERE

SELECT COUNT(*) FROM people WHERE COUNT(*) > 3
                                  ^
=> an aggregate cannot stand inside another or in WHERE

SELECT QUANTILE(age, 1.5) FROM people
                     ^
=> a share from 0 to 1 is needed here

SELECT QUANTILE(age, age) FROM people
                     ^
=> a share from 0 to 1 is needed here

SELECT MODE() FROM people
       ^
=> MODE takes one expression

SELECT MODE(DISTINCT sex) FROM people
       ^
=> MODE takes one expression

SELECT MODE(3) FROM people
            ^
=> a constant cannot be aggregated

SELECT MODE(name) FROM people
            ^
=> MODE needs a column whose values are declared, 100,000 at most

SELECT MODE(income) FROM people
            ^
=> MODE needs a column whose values are declared, 100,000 at most

SELECT CORR(age, income) FROM people
       ^
=> CORR cannot be answered privately

SELECT sex, COUNT(*) FROM people GROUP BY ROLLUP (sex)
                                                  ^
=> ROLLUP, CUBE and GROUPING SETS cannot be answered

SELECT sex, COUNT(*) FROM people GROUP BY GROUPING SETS ((sex), ())
                                                          ^
=> ROLLUP, CUBE and GROUPING SETS cannot be answered

SELECT COUNT(*) FROM people GROUP BY 7
                                     ^
=> there is no column 7 to group by

SELECT COUNT(*) FROM people GROUP BY 'x'
                                     ^
=> a constant cannot be grouped by

SELECT COUNT(*) FROM people GROUP BY COUNT(*)
                                     ^
=> an aggregate cannot stand inside another or in WHERE

SELECT age, income, COUNT(*) FROM people GROUP BY age, income
                                                       ^
=> grouping by this makes more than 1,000,000 cells

SELECT COUNT(*) FROM people ORDER BY 7
                                     ^
=> there is no column 7 to order by

SELECT COUNT(*) FROM people LIMIT age
                                  ^
=> LIMIT takes a whole number

SELECT COUNT(*) FROM people LIMIT -1
                                   ^
=> LIMIT takes a whole number

SELECT COUNT(*) FROM people WHERE age
                                  ^
=> a condition is needed here

SELECT COUNT(*) FROM people WHERE sex > 3
                                        ^
=> sex is text, and 3 a number

SELECT COUNT(*) FROM people WHERE TO_CHAR(admitted, 'YYYY') = '2020'
                                  ^
=> TO_CHAR is not supported: it writes text

SELECT COUNT(*) FROM people WHERE age = 'old'
                                        ^
=> this is not a number that can be used

SELECT COUNT(*) FROM people WHERE admitted > 'yesterday'
                                             ^
=> this is not a date

SELECT COUNT(*) FROM people WHERE age LIKE '1%'
                                  ^
=> LIKE takes text on its left

SELECT COUNT(*) FROM people WHERE name LIKE sex
                                            ^
=> LIKE takes a pattern written out on its right

SELECT COUNT(*) FROM people WHERE age IN (SELECT age FROM people)
                                  ^
=> this subquery may read rows of other units, of people

SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM people)
                                                 ^
=> this subquery may read rows of other units, of people

SELECT COUNT(*) FROM people WHERE age > (SELECT AVG(age) FROM people)
                                                ^
=> this subquery may read rows of other units, of people

SELECT COUNT(*) FROM people WHERE age = ?
                                  ^
=> a parameter has no value here

SELECT COUNT(*) FROM people WHERE age = $1
                                         ^
=> a parameter has no value here

SELECT COUNT(*) FROM people WHERE age = :x
                                  ^
=> a parameter has no value here

SELECT COUNT(*) FROM people WHERE wage > 3
                                  ^
=> there is no column 'wage'

SELECT COUNT(*) FROM people p WHERE q.age > 3
                                    ^
=> there is no table 'q' here

SELECT COUNT(*) FROM people JOIN regions USING (region_id) WHERE region_id = 'x'
                                                                             ^
=> this is not a number that can be used

SELECT COUNT(*) FROM (SELECT age, COUNT(*) FROM people GROUP BY age) t
                                                                ^
=> this groups rows of several units, before noise is added

SELECT COUNT(*) FROM (SELECT DISTINCT age FROM people) t
                                      ^
=> this groups rows of several units, before noise is added

SELECT COUNT(*) FROM (SELECT age FROM people LIMIT 3) t
                                                   ^
=> LIMIT cannot stand in a subquery

SELECT COUNT(*) FROM (SELECT age FROM people ORDER BY age) t
                                                      ^
=> ORDER BY cannot stand in a subquery

SELECT COUNT(*) FROM (SELECT age + 1 FROM people) t
                             ^
=> a computed column of a subquery needs a name

SELECT COUNT(*) FROM (SELECT age FROM people UNION SELECT age FROM people) t
                             ^
=> UNION compares rows of several person_id here: of people

WITH RECURSIVE t AS (SELECT age FROM people UNION ALL SELECT age FROM t) SELECT COUNT(*) FROM t
               ^
=> recursive queries cannot be answered privately

WITH t AS (SELECT COUNT(*) AS n FROM people) SELECT SUM(n) FROM t
                  ^
=> this groups rows of several units, before noise is added

SELECT COUNT(*) FROM people UNION SELECT COUNT(*) FROM people
       ^
=> only a SELECT can be asked

SELECT COUNT(*) FROM people; SELECT COUNT(*) FROM people
                                    ^
=> one statement at a time

INSERT INTO people VALUES (1)
            ^
=> only a SELECT can be asked

UPDATE people SET age = 3
       ^
=> only a SELECT can be asked

DELETE FROM people
            ^
=> only a SELECT can be asked

DROP TABLE people
           ^
=> only a SELECT can be asked

CREATE TABLE t AS SELECT COUNT(*) FROM people
             ^
=> only a SELECT can be asked

TRUNCATE people
         ^
=> only a SELECT can be asked

ALTER TABLE people ADD COLUMN x INT
            ^
=> only a SELECT can be asked

COPY people TO '/tmp/x'
     ^
=> only a SELECT can be asked

SET search_path = x
    ^
=> only a SELECT can be asked

EXPLAIN SELECT COUNT(*) FROM people
                             ^
=> only a SELECT can be asked

VACUUM
^
=> only a SELECT can be asked

SELECT COUNT(*) INTO t FROM people
       ^
=> the data cannot be changed from here

SELECT COUNT(*) FROM people FOR UPDATE
       ^
=> the data cannot be locked from here

SELEC COUNT(*) FROM people
           ^
=> this is not valid SQL

SELECT COUNT(* FROM people
               ^
=> this is not valid SQL

SELECT COUNT(*) FROM people WHERE
                            ^
=> this is not valid SQL

SELECT 'unfinished FROM people
=> this is not valid SQL

SELECT COUNT(*)
FROM people
WHERE wage > 3
      ^
=> there is no column 'wage'

SELECT COUNT(*) FROM people WHERE "Größe" > 3 AND größer > 3
                                                  ^
=> there is no column 'größer'

SELECT age AS n, COUNT(*) FROM people WHERE n > 3 GROUP BY age
                                            ^
=> there is no column 'n'

SELECT EXTRACT(hour FROM admitted), COUNT(*) FROM people GROUP BY 1
                         ^
=> 'hour' cannot be extracted

SELECT DATE_TRUNC('hour', admitted), COUNT(*) FROM people GROUP BY 1
       ^
=> a date cannot be cut to 'hour'

SELECT EXTRACT(year FROM age), COUNT(*) FROM people GROUP BY 1
                         ^
=> EXTRACT takes a date

SELECT CASE WHEN age > 3 THEN 'x' ELSE 3 END, COUNT(*) FROM people GROUP BY 1
                                       ^
=> the branches are of different types

SELECT SUM(CAST(name AS INTEGER)) FROM people
                ^
=> a number is needed here

SELECT COUNT(*) FROM people WHERE CAST(age AS JSON) IS NULL
                                       ^
=> this cast is not supported

SELECT ROUND(AVG(age), 99) FROM people WHERE ROUND(price, 99) = 1
                                             ^
=> between -15 and 15 digits can be rounded to

SELECT COUNT(*) FROM people WHERE income > 1e400
                                           ^
=> this is not a number that can be used

SELECT UPPER(name), COUNT(*) FROM people GROUP BY 1
       ^
=> this needs a text column with declared values

SELECT age + COUNT(*) FROM people
       ^
=> 'age' is neither aggregated nor in GROUP BY

SELECT COUNT(*) FROM people QUALIFY ROW_NUMBER() OVER () = 1
       ^
=> QUALIFY cannot be answered privately

SELECT COUNT(*) FROM people WHERE age BETWEEN SYMMETRIC 30 AND 20
                                  ^
=> this is not understood here: SYMMETRIC

SELECT COUNT(*) FROM people WHERE TRIM(LEADING 'x' FROM sex) = 'F'
                                               ^
=> this is not understood here: POSITION

SELECT DATE_TRUNC('month', admitted, 'UTC'), COUNT(*) FROM people GROUP BY 1
       ^
=> this is not understood here: ZONE

SELECT SUM(CAST(price AS DECIMAL(10, 1))) FROM people
                                 ^
=> this is not understood here: EXPRESSIONS

SELECT COUNT(*) FROM people AS p(sex, age) WHERE age = 'F'
                               ^
=> this is not understood here: COLUMNS

WITH t(sex, age) AS (SELECT age, sex FROM people) SELECT COUNT(*) FROM t
     ^
=> this is not understood here: COLUMNS

SELECT MAX(age, 3) FROM people
       ^
=> this is not understood here: EXPRESSIONS

SELECT MAX(SUM(age)) FROM people
           ^
=> an aggregate cannot stand inside another or in WHERE

(SELECT sex, COUNT(*) FROM people GROUP BY sex) ORDER BY 2
        ^
=> only a SELECT can be asked

SELECT sex, COUNT(*) FROM people GROUP BY sex ORDER BY 2 FETCH FIRST 1 ROWS WITH TIES
                                                                     ^
=> this is not understood here: WITH TIES

SELECT COUNT(*) FROM people WHERE age IS DISTINCT FROM 130
                                                       ^
=> 130 is not declared for age, so which rows are not 130 is not known

SELECT COUNT(*) FROM people WHERE age <> 3.5
                                         ^
=> 3.5 is not declared for age, so which rows are not 3.5 is not known

SELECT COUNT(*) FROM people WHERE NOT (income > 5 OR age = 130)
                                       ^
=> 130 is not declared for age, so which rows are not 130 is not known

SELECT COUNT(*) FROM people WHERE sex NOT IN ('F', 'X')
                                  ^
=> 'X' is not listed for sex, so which rows are not 'X' is not known

SELECT COUNT(*) FROM people WHERE admitted <> '1990-01-01'
                                              ^
=> 1990-01-01 is not declared for admitted, so which rows are not 1990-01-01 is not known

SELECT COUNT(*) FROM people WHERE (sex = 'X') IS FALSE
                                   ^
=> 'X' is not listed for sex, so which rows are not 'X' is not known

SELECT AVG(NULLIF(age, 130)) FROM people
                  ^
=> 130 is not declared for age, so which rows are not 130 is not known

SELECT CASE age WHEN 130 THEN 'old' ELSE 'known' END AS k, COUNT(*) FROM people GROUP BY k
                     ^
=> 130 is not declared for age, so which rows are not 130 is not known

SELECT COUNT(*) FROM people WHERE name LIKE 'a#%' ESCAPE '#'
                                  ^
=> ESCAPE is not supported: its range cannot be derived

SELECT COUNT(*) FROM people WHERE name ~ 'a+'
                                  ^
=> ~ is not supported: its range cannot be derived

SELECT COUNT(*) FROM people WHERE age = ANY(ARRAY[1, 2])
                                                  ^
=> ANY is not supported: its range cannot be derived

SELECT COUNT(*) FROM people WHERE sex || 'x' = 'Fx'
                                  ^
=> || is not supported: its range cannot be derived

SELECT AVG(LOG(age)) FROM people
           ^
=> LOG is not supported: its range cannot be derived

SELECT COUNT(*) FROM ONLY people
                          ^
=> this is not understood here: ONLY

SELECT DISTINCT ON (sex) sex FROM people
                    ^
=> DISTINCT ON cannot be answered

SELECT SUM(FLOOR(admitted TO month)) FROM people
                 ^
=> this is not understood here: TO

SELECT SUM(age ORDER BY age) FROM people
           ^
=> ORDER BY is not supported: its range cannot be derived

SELECT COUNT(*) FROM (SELECT age FROM people FOR UPDATE) t
                             ^
=> this is not understood here: LOCKS

SELECT COUNT(*) FROM people JOIN regions r USING (region_id) WHERE r.region_id = 1
                                                                   ^
=> there is no column 'region_id'

SELECT COUNT(*) FROM people WHERE age > 3 AND sum(age) > 3
                                              ^
=> an aggregate cannot stand inside another or in WHERE

SELECT COUNT(*) FROM people WHERE name COLLATE "C" = 'x'
                                  ^
=> COLLATE is not supported: its range cannot be derived

SELECT COUNT(*) FROM people WHERE admitted + INTERVAL '1 hour' > '2020-01-01'
                                  ^
=> a date has no time of day

SELECT COUNT(*) FROM people WHERE admitted < '2020-05-01 12:00'
                                             ^
=> a date has no time of day

SELECT COUNT(*) FROM people WHERE admitted IN ('2020-05-01', TIMESTAMP '2020-05-01 12:00')
                                                                       ^
=> a date has no time of day

SELECT COUNT(*) FROM people WHERE GREATEST(sex, 'G') = 'G'
                                           ^
=> a number is needed here

SELECT COUNT(*) FROM people WHERE age = 130
                                        ^
=> age is never 130

SELECT COUNT(*) FROM people WHERE 121 < age
                                  ^
=> age is never above 121

SELECT COUNT(*) FROM people WHERE price = 1.005
                                          ^
=> price is never 1.005

SELECT COUNT(*) FROM people WHERE sex = 'f' AND age > 3
                                        ^
=> 'f' is no value of sex

SELECT COUNT(*) FROM people WHERE sex IN ('f', 'm')
                                          ^
=> 'f', 'm' are no values of sex

SELECT COUNT(*) FROM people WHERE sex = 'f' OR region_id = 9
                                        ^
=> 'f' is no value of sex

SELECT COUNT(*) FROM people WHERE sex NOT IN ('F', NULL)
                                  ^
=> NOT IN with NULL in its list is never true

SELECT COUNT(*) FROM people WHERE diagnosis LIKE 'x%'
                                                 ^
=> no value of diagnosis is like 'x%'

SELECT COUNT(*) FROM people WHERE age = NULL
                                  ^
=> a comparison with NULL is never true

SELECT COUNT(*) FROM people WHERE age BETWEEN 130 AND 140
                                              ^
=> age is never at least 130

SELECT COUNT(*) FROM people WHERE age BETWEEN 60 AND 20
                                              ^
=> no value lies between these two

SELECT COUNT(*) FROM people WHERE admitted > '2030-01-01'
                                             ^
=> admitted is never above 2030-01-01

SELECT COUNT(*) FROM people WHERE EXTRACT(month FROM admitted) = 13
                                                                 ^
=> this is never 13

SELECT COUNT(*) AS m, COUNT(*) FILTER (WHERE sex = 'f') AS n FROM people
                                                   ^
=> 'f' is no value of sex

SELECT SUM(CASE WHEN sex = 'f' THEN 1 ELSE 0 END) FROM people
                           ^
=> 'f' is no value of sex

SELECT COUNT(CASE sex WHEN 'f' THEN 1 END) FROM people
                           ^
=> 'f' is no value of sex

WITH a AS (SELECT * FROM people WHERE sex = 'f') SELECT COUNT(*) FROM a
                                            ^
=> 'f' is no value of sex
