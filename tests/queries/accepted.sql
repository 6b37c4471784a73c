SELECT COUNT(*) FROM people
=> people | measure count(*) | show count = stat0

select count(*) as n from PEOPLE
=> people | measure count(*) | show n = stat0

SELECT COUNT(1) FROM people
=> people | measure count(*) | show count = stat0

SELECT COUNT(age) AS known FROM people
=> people | measure count(not(is_null(age))) | show known = stat0

SELECT COUNT(DISTINCT person_id) FROM people
=> people | measure distinct(person_id) | show count = stat0

SELECT COUNT(DISTINCT diagnosis) FROM people
=> people | measure distinct(diagnosis) | show count = stat0

SELECT SUM(income), AVG(income), VAR_SAMP(income), STDDEV_SAMP(income) FROM people
=> people | measure sum(income), avg(income), var(income) | show sum = stat0, avg = stat1, var_samp = stat2, stddev_samp = sqrt(stat2)

SELECT VARIANCE(age), STDDEV(age), VAR_POP(age), STDDEV_POP(age) FROM people
=> people | measure var(age), var_pop(age) | show var_samp = stat0, stddev = sqrt(stat0), var_pop = stat1, stddev_pop = sqrt(stat1)

SELECT MEDIAN(age), QUANTILE(age, 0.25), MIN(age), MAX(age) FROM people
=> people | measure quantile(age, 1/2), quantile(age, 1/4), min(age), max(age) | show median = stat0, quantile = stat1, min = stat2, max = stat3

SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY income) AS p90 FROM people
=> people | measure quantile(income, 9/10) | show p90 = stat0

SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY income DESC) FROM people
=> people | measure quantile(income, 1/10) | show percentile_disc = stat0

SELECT QUANTILE_CONT(age, 0.75), QUANTILE_DISC(age, 1) FROM people
=> people | measure quantile(age, 3/4), quantile(age, 1) | show column = stat0, column_2 = stat1

SELECT COUNT(*) FROM people WHERE age >= 18 AND NOT sex = 'F' OR smoker
=> people | where or(and(ge(age, 18), not(eq(sex, 'F'))), smoker) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE diagnosis IN ('A', 'B') AND age BETWEEN 20 AND 30
=> people | where and(in(diagnosis, A, B), and(ge(age, 20), le(age, 30))) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE diagnosis NOT IN ('A') AND name LIKE 'M\_%' AND name NOT LIKE '%x'
=> people | where and(not(in(diagnosis, A)), like(name, M\_%, False), not(like(name, %x, False))) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE age IS NULL OR sex IS NOT NULL OR smoker IS TRUE
=> people | where or(is_null(age), not(is_null(sex)), and(not(is_null(smoker)), eq(smoker, True))) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE admitted >= '2020-01-01' AND admitted < DATE '2021-01-01'
=> people | where and(ge(admitted, 2020-01-01), lt(admitted, 2021-01-01)) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE CASE WHEN sex = 'F' THEN age > 60 ELSE age > 65 END
=> people | where case(eq(sex, 'F'), gt(age, 60), gt(age, 65)) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE price > 9.995 AND age <> 3
=> people | where and(gt(price, 9.99), ne(age, 3)) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE age IS DISTINCT FROM 3
=> people | where and(or(is_null(age), False, ne(age, 3)), or(not(is_null(age)), True)) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE NULL
=> people | where null | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE age >= 120 AND income <= 0 AND diagnosis = 'other' AND admitted <= '2015-01-01'
=> people | where and(ge(age, 120), le(income, 0), eq(diagnosis, 'other'), le(admitted, 2015-01-01)) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE sex IN ('F', 'x') OR sex IS NULL OR sex = ''
=> people | where or(in(sex, F, x), is_null(sex), eq(sex, '')) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE sex <> 'F' AND age NOT BETWEEN 130 AND 140
=> people | where and(ne(sex, 'F'), not(and(ge(age, 130), le(age, 120)))) | measure count(*) | show count = stat0

SELECT COUNT(*) FILTER (WHERE age > 50 AND age < 20) AS n, SUM(income) FILTER (WHERE FALSE) AS s, COUNT(*) AS m FROM people
=> people | measure count(*) | show n = 0, s = None, m = stat0

SELECT SUM(CASE WHEN sex = 'F' AND sex = 'M' THEN income ELSE 0 END) / COUNT(*) AS share FROM people
=> people | measure count(*) | show share = div(0, stat0)

SELECT SUM(CASE WHEN sex = 'f' THEN 1 WHEN sex = 'M' THEN 2 END) AS n FROM people
=> people | measure sum(case(eq(sex, 'f'), 1, eq(sex, 'M'), 2, null)) | show n = stat0

SELECT CASE WHEN age > 200 THEN 'odd' ELSE 'even' END AS kind, COUNT(*) FROM people GROUP BY 1 HAVING COUNT(*) < 0
=> people | by case(gt(age, 200), 'odd', 'even') | measure count(*) | show kind = key0, count = stat0 | having lt(stat0, 0)

SELECT sex, COUNT(*) FROM people GROUP BY sex HAVING sex = 'x'
=> people | by sex | measure count(*) | show sex = key0, count = stat0 | having eq(key0, 'x')

SELECT COUNT(*) FROM people WHERE SQRT(age) > 300
=> people | where gt(real(inside(age), sqrt, 1), 300.0) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE 1 = 1
=> people | measure count(*) | show count = stat0

SELECT SUM(age * price), SUM(ABS(debt)), SUM(LEAST(age, 65)), SUM(GREATEST(debt, 0)) FROM people
=> people | measure sum(mul(nearest(age), nearest(price))), sum(abs(nearest(debt))), sum(least(nearest(age), 65)), sum(greatest(nearest(debt), 0)) | show sum = stat0, sum_2 = stat1, sum_3 = stat2, sum_4 = stat3

SELECT SUM(CASE WHEN smoker THEN income ELSE 0 END), SUM(ROUND(price)), SUM(EXTRACT(year FROM admitted)) FROM people
=> people | measure sum(case(smoker, nearest(income), 0)), sum(div(nearest(price), 1, 1, 100, round, 1)), sum(extract(nearest(admitted), year)) | show sum = stat0, sum_2 = stat1, sum_3 = stat2

SELECT SUM(smoker), AVG(age > 65) FROM people
=> people | measure sum(case(smoker, 1, is_null(smoker), null, 0)), avg(case(gt(age, 65), 1, is_null(gt(age, 65)), null, 0)) | show sum = stat0, avg = stat1

SELECT SUM(income / 1000), SUM(price / 3), SUM(age % 10), AVG(SQRT(age)) FROM people
=> people | measure sum(div(nearest(income), 1000, 1, 1, trunc, 1)), sum(div(nearest(price), 3, 10000, 1, round, 1/1000000)), sum(mod(nearest(age), 10)), avg(real(nearest(age), sqrt, 1)) | show sum = stat0, sum_2 = stat1, sum_3 = stat2, avg = stat3

SELECT SUM(COALESCE(debt, 0)), SUM(NULLIF(age, 0)), SUM(POWER(debt, 2)) FROM people
=> people | measure sum(case(not(is_null(nearest(debt))), nearest(debt), 0)), sum(case(eq(age, 0), null, nearest(age))), sum(mul(nearest(debt), nearest(debt))) | show sum = stat0, sum_2 = stat1, sum_3 = stat2

SELECT COUNT(*) FROM people WHERE admitted + INTERVAL '1 day' > '2020-01-01' AND admitted < TIMESTAMP '2021-01-01 00:00'
=> people | where and(gt(day_shift(inside(admitted), 0, 1), 2020-01-01), lt(admitted, 2021-01-01)) | measure count(*) | show count = stat0

SELECT AVG(DATE_DIFF('month', admitted, DATE '2025-12-31' - INTERVAL '1 month')) FROM people
=> people | measure avg(sub(24311, add(mul(extract(nearest(admitted), year), 12), extract(nearest(admitted), month)))) | show avg = stat0

SELECT AVG(admitted - DATE '2015-01-01') FROM people
=> people | measure avg(days(nearest(admitted), 2015-01-01)) | show avg = stat0

SELECT SUM(CAST(price AS INTEGER)), AVG(age::double precision) FROM people
=> people | measure sum(div(nearest(price), 1, 1, 100, round, 1)), avg(scale(nearest(age), 10)) | show sum = stat0, avg = stat1

SELECT COUNT(*) FILTER (WHERE sex = 'F') AS f, COUNT(*) FILTER (WHERE sex = 'M') AS m FROM people
=> people | measure count(eq(sex, 'F')), count(eq(sex, 'M')) | show f = stat0, m = stat1

SELECT SUM(age) FILTER (WHERE smoker), COUNT(DISTINCT person_id) FILTER (WHERE smoker) FROM people
=> people | measure sum(case(smoker, nearest(age), null)), distinct(case(smoker, person_id, null)) | show sum = stat0, count = stat1

SELECT COUNT_IF(smoker) FROM people
=> people | measure count(smoker) | show count_if = stat0

SELECT sex, COUNT(*) FROM people GROUP BY sex
=> people | by sex | measure count(*) | show sex = key0, count = stat0

SELECT sex, diagnosis, COUNT(*) FROM people GROUP BY 1, 2
=> people | by sex, diagnosis | measure count(*) | show sex = key0, diagnosis = key1, count = stat0

SELECT age / 10 AS decade, COUNT(*) FROM people GROUP BY decade
=> people | by div(inside(age), 10, 1, 1, trunc, 1) | measure count(*) | show decade = key0, count = stat0

SELECT age / 10 * 10 AS decade, COUNT(*) FROM people GROUP BY age / 10 * 10
=> people | by restep(div(inside(age), 10, 1, 1, trunc, 1), 10) | measure count(*) | show decade = key0, count = stat0

SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS stage, AVG(income) FROM people GROUP BY stage
=> people | by case(lt(age, 18), 'child', lt(age, 65), 'adult', 'old') | measure avg(income) | show stage = key0, avg = stat0

SELECT EXTRACT(year FROM admitted) AS y, DATE_TRUNC('month', admitted) AS m, COUNT(*) FROM people GROUP BY y, m
=> people | by extract(inside(admitted), year), trunc(inside(admitted), month) | measure count(*) | show y = key0, m = key1, count = stat0

SELECT UPPER(diagnosis) AS d, COUNT(*) FROM people GROUP BY UPPER(diagnosis)
=> people | by map(diagnosis, …) | measure count(*) | show d = key0, count = stat0

SELECT smoker, COUNT(*) FROM people GROUP BY smoker
=> people | by smoker | measure count(*) | show smoker = key0, count = stat0

SELECT name, COUNT(*) FROM people GROUP BY name
=> people | by name | measure count(*) | show name = key0, count = stat0

SELECT COUNT(*) FROM people GROUP BY sex
=> people | by sex | measure count(*) | show count = stat0

SELECT sex FROM people GROUP BY sex
=> people | by sex | measure nothing | show sex = key0

SELECT sex, COUNT(*) AS n FROM people GROUP BY sex HAVING COUNT(*) > 100 AND n < 1000 ORDER BY n DESC, sex LIMIT 5 OFFSET 1
=> people | by sex | measure count(*) | show sex = key0, n = stat0 | having and(gt(stat0, 100), lt(stat0, 1000)) | order stat0 desc nulls first | order key0 | limit 5 offset 1

SELECT sex, AVG(age) FROM people GROUP BY sex ORDER BY AVG(age) DESC NULLS LAST, 1
=> people | by sex | measure avg(age) | show sex = key0, avg = stat0 | order stat0 desc | order key0

SELECT SUM(income) / COUNT(*) AS mean, ROUND(AVG(age), 1), SQRT(VAR_SAMP(age)) FROM people
=> people | measure sum(income), count(*), avg(age), var(age) | show mean = div(stat0, stat1), column = round(stat2, 1), column_2 = sqrt(stat3)

SELECT 2 * COUNT(*) + 1 AS x, COALESCE(AVG(age), 0), 'text' AS label, NULL AS nothing FROM people
=> people | measure count(*), avg(age) | show x = add(mul(2, stat0), 1), column = coalesce(stat1, 0), label = 'text', nothing = None

SELECT sex, CASE WHEN COUNT(*) > 10 THEN 'many' ELSE 'few' END AS size FROM people GROUP BY sex
=> people | by sex | measure count(*) | show sex = key0, size = case(gt(stat0, 10), 'many', 'few')

SELECT COUNT(*), COUNT(*) FROM people
=> people | measure count(*) | show count = stat0, count_2 = stat0

SELECT COUNT(*) FROM (SELECT age, sex FROM people WHERE age > 17) AS adults WHERE sex = 'F'
=> people | where and(gt(age, 17), eq(sex, 'F')) | measure count(*) | show count = stat0

SELECT AVG(half) FROM (SELECT age / 2 AS half FROM people) t
=> people | measure avg(div(nearest(age), 2, 1, 1, trunc, 1)) | show avg = stat0

SELECT COUNT(*) FROM (SELECT * FROM people) p WHERE p.age > 3
=> people | where gt(age, 3) | measure count(*) | show count = stat0

WITH adults AS (SELECT * FROM people WHERE age > 17) SELECT sex, COUNT(*) FROM adults GROUP BY sex
=> people | where gt(age, 17) | by sex | measure count(*) | show sex = key0, count = stat0

WITH a AS (SELECT age, income FROM people WHERE income > 0), b AS (SELECT age AS years FROM a WHERE age > 17) SELECT AVG(years) FROM b
=> people | where and(gt(income, 0), gt(age, 17)) | measure avg(age) | show avg = stat0

WITH a AS (WITH b AS (SELECT age FROM people WHERE age > 1) SELECT * FROM b WHERE age > 2) SELECT COUNT(*) FROM a
=> people | where and(gt(age, 1), gt(age, 2)) | measure count(*) | show count = stat0

WITH people AS (SELECT age FROM people WHERE age > 17) SELECT COUNT(*) FROM people
=> people | where gt(age, 17) | measure count(*) | show count = stat0

SELECT r.zone, COUNT(*) FROM people p JOIN regions r ON r.region_id = p.region_id GROUP BY r.zone
=> people | where in(region_id, 1, 2, 3) | by map(region_id, …) | measure count(*) | show zone = key0, count = stat0

SELECT label, AVG(age) FROM people JOIN regions USING (region_id) GROUP BY label
=> people | where in(region_id, 1, 2, 3) | by map(region_id, …) | measure avg(age) | show label = key0, avg = stat0

SELECT COUNT(*) FROM people LEFT JOIN regions ON people.region_id = regions.region_id WHERE zone = 20
=> people | where eq(map(region_id, …), 20) | measure count(*) | show count = stat0

SELECT COUNT(r.label) FROM people p LEFT JOIN regions r USING (region_id)
=> people | measure count(not(is_null(map(region_id, …)))) | show count = stat0

SELECT p.age AS sex, COUNT(*) FROM people AS p GROUP BY p.age
=> people | by age | measure count(*) | show sex = key0, count = stat0

SELECT age > 17 AS sex, COUNT(*) FROM people GROUP BY sex, age > 17
=> people | by sex, gt(age, 17) | measure count(*) | show sex = key1, count = stat0

SELECT AVG("Größe") AS "mittlere Größe" FROM people
=> people | measure avg(Größe) | show mittlere Größe = stat0

SELECT "Full Name", COUNT(*) FROM "people" GROUP BY "Full Name"
=> people | by Full Name | measure count(*) | show Full Name = key0, count = stat0

SELECT COUNT(*) /* all of them */ FROM people -- everybody
WHERE age > 17 -- but not children
=> people | where gt(age, 17) | measure count(*) | show count = stat0

(SELECT COUNT(*) FROM people);
=> people | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people ORDER BY 1 LIMIT 10
=> people | measure count(*) | show count = stat0 | order stat0 | limit 10 offset 0

SELECT COUNT(*) FROM people WHERE name = '😀'
=> people | where eq(name, '😀') | measure count(*) | show count = stat0

SELECT MAX(age) - MIN(age) AS span FROM people
=> people | measure max(age), min(age) | show span = sub(stat0, stat1)

SELECT age, COUNT(*) FROM people GROUP BY age HAVING age BETWEEN 20 AND 30 AND age IN (21, 22)
=> people | by age | measure count(*) | show age = key0, count = stat0 | having and(between(key0, 20, 30), in(key0, 21, 22))

SELECT SUM(age) AS total, AVG(age) AS total FROM people
=> people | measure sum(age), avg(age) | show total = stat0, total_2 = stat1

SELECT COUNT(*) FROM people WHERE SUBSTRING(diagnosis, 1, 1) = 'o' AND LENGTH(diagnosis) > 1
=> people | where and(eq(map(diagnosis, …), 'o'), gt(map(diagnosis, …), 1)) | measure count(*) | show count = stat0

SELECT sex, COUNT(*) FROM people WHERE TRUE GROUP BY sex ORDER BY COUNT(*)
=> people | by sex | measure count(*) | show sex = key0, count = stat0 | order stat0

SELECT COUNT(*) FROM people WHERE age IS NOT NULL AND smoker IS NOT TRUE AND name NOT ILIKE 'm%' AND age NOT BETWEEN 3 AND 5
=> people | where and(not(is_null(age)), not(and(not(is_null(smoker)), eq(smoker, True))), not(like(name, m%, True)), not(and(ge(age, 3), le(age, 5)))) | measure count(*) | show count = stat0

SELECT sex, AVG(age) FROM people GROUP BY sex HAVING AVG(age) IS NOT NULL AND NOT COUNT(*) IS NULL
=> people | by sex | measure avg(age), count(*) | show sex = key0, avg = stat0 | having and(not(is_null(stat0)), not(is_null(stat1)))

SELECT region_id, COUNT(*) FROM people JOIN regions USING (region_id) WHERE zone = 10 GROUP BY region_id
=> people | where and(in(region_id, 1, 2, 3), eq(map(region_id, …), 10)) | by region_id | measure count(*) | show region_id = key0, count = stat0

SELECT sex, COUNT(*) FROM people GROUP BY sex FETCH FIRST 1 ROWS ONLY
=> people | by sex | measure count(*) | show sex = key0, count = stat0 | limit 1 offset 0

SELECT COUNT(*) FROM people WHERE income >= 1e4 AND age < '40'
=> people | where and(ge(income, 10000), lt(age, 40)) | measure count(*) | show count = stat0

SELECT COUNT(*) FROM people WHERE name = 'O''Brien' AND name IN ('x', NULL)
=> people | where and(eq(name, "O'Brien"), or(in(name, x), null)) | measure count(*) | show count = stat0

SELECT people.sex, COUNT(people.age) FROM people GROUP BY people.sex
=> people | by sex | measure count(not(is_null(age))) | show sex = key0, count = stat0

SELECT COUNT(ALL age) FROM people WHERE NOT (smoker AND sex = 'F')
=> people | where not(and(smoker, eq(sex, 'F'))) | measure count(not(is_null(age))) | show count = stat0

SELECT COUNT(*) FROM people WHERE TRIM(diagnosis) = 'A' AND LEFT(diagnosis, 1) = RIGHT(diagnosis, 1)
=> people | where and(eq(map(diagnosis, …), 'A'), eq(map(diagnosis, …), map(diagnosis, …))) | measure count(*) | show count = stat0

SELECT MODE(diagnosis) FROM people
=> people | measure mode(diagnosis) | show mode = stat0

SELECT MODE() WITHIN GROUP (ORDER BY age) AS usual FROM people
=> people | measure mode(inside(age)) | show usual = stat0

SELECT sex, MODE(diagnosis) FILTER (WHERE age > 60) AS d FROM people GROUP BY sex
=> people | by sex | measure mode(case(gt(age, 60), diagnosis, null)) | show sex = key0, d = stat0

SELECT COUNT(*) FROM public.people
=> people | measure count(*) | show count = stat0
