-- hospital
SELECT COUNT(*) AS n FROM patients

SELECT COUNT(*) AS n FROM visits v JOIN patients p ON p.id = v.patient WHERE p.age >= 65

SELECT p.sex, COUNT(*) AS n FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.sex

SELECT p.sex, COUNT(*) AS n FROM patients p, visits v WHERE v.patient = p.id GROUP BY p.sex

SELECT sex, ward, COUNT(*) AS n, SUM(cost) AS total FROM visits INNER JOIN patients ON patients.id = visits.patient GROUP BY sex, ward ORDER BY sex, ward

SELECT w.name, COUNT(*) AS n FROM visits v JOIN wards w ON w.ward = v.ward GROUP BY w.name ORDER BY n DESC

SELECT w.floor, AVG(v.cost) AS mean FROM visits v JOIN wards w USING (ward) GROUP BY w.floor

SELECT w.floor, COUNT(DISTINCT v.patient) AS people FROM patients p JOIN visits v ON v.patient = p.id JOIN wards w ON v.ward = w.ward WHERE p.sex = 'F' GROUP BY w.floor

SELECT d.code, COUNT(*) AS n FROM patients p JOIN visits v ON v.patient = p.id JOIN diagnoses d ON d.visit = v.id WHERE p.sex = 'F' GROUP BY d.code ORDER BY n DESC LIMIT 2

SELECT d.code, COUNT(DISTINCT p.id) AS people FROM diagnoses d JOIN visits v ON v.id = d.visit JOIN patients p ON p.id = v.patient GROUP BY d.code

SELECT r.drug, SUM(r.dose) AS dose FROM prescriptions r JOIN visits v ON v.id = r.visit WHERE v.ward = 'a' GROUP BY r.drug

SELECT r.drug, COUNT(*) AS n FROM prescriptions r JOIN visits v ON v.id = r.visit JOIN patients p ON p.id = v.patient WHERE p.age BETWEEN 18 AND 64 GROUP BY r.drug

SELECT d.code, r.drug, COUNT(*) AS n FROM visits v JOIN diagnoses d ON d.visit = v.id JOIN prescriptions r ON r.visit = v.id GROUP BY d.code, r.drug

SELECT AVG(n) AS mean FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) t

SELECT AVG(n) AS mean, COUNT(*) AS people FROM (SELECT p.id, COUNT(v.id) AS n FROM patients p LEFT JOIN visits v ON v.patient = p.id GROUP BY p.id) t

SELECT MEDIAN(total) AS median FROM (SELECT p.id, COALESCE(SUM(v.cost), 0) AS total FROM patients p LEFT JOIN visits v ON v.patient = p.id GROUP BY p.id) t

SELECT CASE WHEN n = 0 THEN 'none' WHEN n < 3 THEN 'some' ELSE 'many' END AS bucket, COUNT(*) AS people FROM (SELECT p.id, COUNT(v.id) AS n FROM patients p LEFT JOIN visits v ON p.id = v.patient GROUP BY p.id) t GROUP BY bucket

SELECT n, COUNT(*) AS people FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) t GROUP BY n ORDER BY n

SELECT COUNT(*) AS n FROM patients p LEFT JOIN visits v ON v.patient = p.id WHERE v.id IS NULL

SELECT sex, COUNT(*) AS n FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient = p.id) GROUP BY sex

SELECT COUNT(*) AS n FROM patients WHERE id NOT IN (SELECT patient FROM visits WHERE ward = 'a')

SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT * FROM visits v WHERE v.patient = p.id AND v.ward = 'b' AND v.cost > 300) AND p.age > 30

SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v JOIN diagnoses d ON d.visit = v.id WHERE v.patient = p.id AND d.code = 'flu')

SELECT COUNT(*) AS n FROM patients p WHERE p.id IN (SELECT v.patient FROM visits v JOIN prescriptions r ON r.visit = v.id WHERE r.drug = 'codeine')

SELECT COUNT(*) AS n FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient = p.id AND EXISTS (SELECT 1 FROM diagnoses d WHERE d.visit = v.id AND d.code = 'burn'))

SELECT 100.0 * COUNT(*) FILTER (WHERE n > 0) / COUNT(*) AS percent FROM (SELECT p.id, COUNT(d.code) AS n FROM patients p LEFT JOIN visits v ON v.patient = p.id LEFT JOIN diagnoses d ON d.visit = v.id AND d.code = 'flu' GROUP BY p.id) t

SELECT AVG(CASE WHEN flu THEN 1 ELSE 0 END) AS share FROM (SELECT v.patient, BOOL_OR(d.code = 'flu') AS flu FROM visits v JOIN diagnoses d ON d.visit = v.id GROUP BY v.patient) t

SELECT sex, AVG(total) AS mean FROM (SELECT p.id, p.sex, SUM(v.cost) AS total FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.id, p.sex) t GROUP BY sex

SELECT FLOOR(age / 10.0) * 10 AS decade, COUNT(*) AS n FROM patients p JOIN visits v ON p.id = v.patient GROUP BY decade ORDER BY decade

SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient = b.patient AND a.day < b.day WHERE DATE_DIFF('day', a.day, b.day) <= 30

SELECT AVG(DATE_DIFF('day', first, last)) AS days FROM (SELECT patient, MIN(day) AS first, MAX(day) AS last FROM visits GROUP BY patient HAVING COUNT(*) > 1) t

SELECT AVG(gap) AS days FROM (SELECT b.id, MIN(DATE_DIFF('day', a.day, b.day)) AS gap FROM visits a JOIN visits b ON a.patient = b.patient AND a.day < b.day GROUP BY b.id) t

SELECT COUNT(*) AS n FROM (SELECT v.patient, v.id, v.day, (SELECT MAX(o.day) FROM visits o WHERE o.patient = v.patient AND o.day < v.day) AS previous FROM visits v) t WHERE DATE_DIFF('day', previous, day) < 60

SELECT ward, COUNT(*) AS people FROM (SELECT patient, ARG_MIN(ward, day) AS ward FROM visits GROUP BY patient) t GROUP BY ward

SELECT ward, COUNT(*) AS people FROM (SELECT patient, LAST(ward ORDER BY day) AS ward FROM visits GROUP BY patient) t GROUP BY ward

SELECT AVG(cost) AS mean FROM (SELECT patient, FIRST(cost ORDER BY day) AS cost FROM visits GROUP BY patient) t

WITH often AS (SELECT patient FROM visits GROUP BY patient HAVING COUNT(*) >= 3) SELECT p.sex, COUNT(*) AS n FROM often o JOIN patients p ON p.id = o.patient GROUP BY p.sex

WITH costs AS (SELECT patient, SUM(cost) AS total FROM visits GROUP BY patient), rich AS (SELECT * FROM costs WHERE total > 1000) SELECT COUNT(*) AS n FROM rich

SELECT p.sex, COUNT(*) AS n FROM patients p JOIN (SELECT patient, MAX(cost) AS top FROM visits GROUP BY patient) m ON m.patient = p.id WHERE m.top > 500 GROUP BY p.sex

SELECT COUNT(*) AS n FROM visits v JOIN (SELECT patient, MAX(cost) AS top FROM visits GROUP BY patient) m ON m.patient = v.patient AND m.top = v.cost

SELECT COUNT(*) AS n FROM visits v WHERE v.cost > (SELECT AVG(w.cost) FROM visits w WHERE w.patient = v.patient)

SELECT COUNT(*) AS n FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.patient = p.id AND v.ward = 'c') >= 2

SELECT COUNT(*) AS n FROM patients p WHERE (SELECT MAX(v.cost) FROM visits v WHERE v.patient = p.id) > 600

SELECT SUM((SELECT COUNT(*) FROM visits v WHERE v.patient = p.id)) AS n FROM patients p WHERE p.sex = 'M'

SELECT SUM(v.cost) / COUNT(DISTINCT v.patient) AS per_head FROM visits v

SELECT EXTRACT(MONTH FROM v.day) AS month, COUNT(*) AS n FROM visits v JOIN patients p ON p.id = v.patient WHERE p.sex = 'F' GROUP BY month ORDER BY month

SELECT DATE_TRUNC('month', v.day) AS month, COUNT(DISTINCT v.patient) AS n FROM visits v GROUP BY 1 ORDER BY 1

SELECT MAX(codes) AS most FROM (SELECT v.patient, COUNT(DISTINCT d.code) AS codes FROM visits v JOIN diagnoses d ON d.visit = v.id GROUP BY v.patient) t

SELECT AVG(most) AS mean FROM (SELECT patient, MAX(n) AS most FROM (SELECT v.patient, v.id, COUNT(d.code) AS n FROM visits v LEFT JOIN diagnoses d ON d.visit = v.id GROUP BY v.patient, v.id) a GROUP BY patient) b

SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, ward FROM visits) t

SELECT wards, COUNT(*) AS people FROM (SELECT patient, COUNT(DISTINCT ward) AS wards FROM visits GROUP BY patient) t GROUP BY wards

SELECT COUNT(*) AS n FROM (SELECT id FROM patients EXCEPT SELECT patient FROM visits) t

SELECT COUNT(*) AS n FROM (SELECT patient FROM visits WHERE ward = 'a' INTERSECT SELECT patient FROM visits WHERE ward = 'b') t

SELECT COUNT(*) AS n FROM (SELECT patient FROM visits WHERE ward = 'a' UNION SELECT patient FROM visits WHERE cost > 700) t

SELECT COUNT(*) AS n, SUM(cost) AS total FROM (SELECT patient, cost FROM visits WHERE ward = 'a' UNION ALL SELECT patient, cost FROM visits WHERE ward = 'b') t

SELECT COUNT(*) AS n FROM patients WHERE id IN (SELECT patient FROM visits WHERE ward = 'a' EXCEPT SELECT patient FROM visits WHERE ward = 'b')

SELECT COUNT(*) AS n FROM patients WHERE id NOT IN (SELECT patient FROM visits WHERE ward = 'a' UNION SELECT patient FROM visits WHERE cost < 200)

WITH a AS (SELECT patient, ward FROM visits WHERE cost > 400), b AS (SELECT patient, ward FROM visits WHERE cost <= 400) SELECT ward, COUNT(*) AS n FROM (SELECT * FROM a INTERSECT SELECT * FROM b) t GROUP BY ward

SELECT p.sex, COUNT(*) AS n FROM patients p JOIN (SELECT patient FROM visits WHERE ward = 'a' EXCEPT SELECT patient FROM visits WHERE ward = 'c') t ON t.patient = p.id GROUP BY p.sex

SELECT kind, COUNT(*) AS n FROM (SELECT visit, 'diagnosis' AS kind FROM diagnoses UNION ALL SELECT visit, 'drug' AS kind FROM prescriptions) t GROUP BY kind

SELECT COUNT(*) AS n FROM (SELECT visit FROM diagnoses UNION SELECT visit FROM prescriptions) t

SELECT COUNT(*) AS n FROM (SELECT v.patient, d.code FROM visits v JOIN diagnoses d ON d.visit = v.id EXCEPT SELECT v.patient, d.code FROM visits v JOIN diagnoses d ON d.visit = v.id WHERE v.cost > 450) t

SELECT AVG(n) AS mean FROM (SELECT patient, COUNT(*) AS n FROM (SELECT patient, cost FROM visits WHERE ward = 'a' UNION ALL SELECT patient, cost FROM visits WHERE ward = 'c') u GROUP BY patient) t

SELECT COUNT(*) AS n FROM patients p JOIN visits v ON v.patient = p.id AND v.ward = 'a' AND p.age > 40

SELECT COUNT(*) AS n FROM visits v LEFT JOIN diagnoses d ON v.id = d.visit WHERE d.visit IS NULL

SELECT COUNT(*) AS n FROM visits v LEFT JOIN prescriptions r ON v.id = r.visit AND r.drug = 'aspirin' WHERE r.visit IS NULL AND v.ward = 'a'

SELECT AVG(p.age) AS mean FROM patients p WHERE p.id IN (SELECT patient FROM visits WHERE cost > 800)

SELECT QUANTILE_DISC(visits, 0.75) AS q FROM (SELECT p.id AS id, COUNT(v.id) AS visits FROM patients AS p LEFT JOIN visits AS v ON p.id = v.patient GROUP BY p.id) AS t

SELECT COUNT(DISTINCT a.patient) AS people FROM visits a JOIN visits b ON a.patient = b.patient WHERE a.ward = 'a' AND b.ward = 'b' AND a.day < b.day

SELECT COUNT(*) AS n FROM (SELECT patient, SUM(CASE WHEN ward = 'a' THEN cost ELSE 0 END) AS a, SUM(CASE WHEN ward = 'b' THEN cost ELSE 0 END) AS b FROM visits GROUP BY patient) t WHERE a > b

SELECT COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY patient HAVING COUNT(*) > 1 AND MAX(cost) > 500) t WHERE mean > 300

SELECT SUM(n) AS n FROM (SELECT COUNT(*) AS n FROM visits GROUP BY patient) t

SELECT COUNT(*) AS n FROM (SELECT p.id FROM patients p JOIN visits v ON v.patient = p.id GROUP BY p.id HAVING SUM(v.cost) > 1000) t

SELECT STDDEV(n) AS spread FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) t

SELECT COUNT(*) AS n FROM patients AS p LEFT JOIN (SELECT patient, COUNT(*) AS n FROM visits WHERE ward = 'b' GROUP BY patient) AS b ON b.patient = p.id WHERE COALESCE(b.n, 0) = 0

SELECT COUNT(*) AS n FROM patients p WHERE 2 <= (SELECT COUNT(DISTINCT ward) FROM visits WHERE patient = p.id)

SELECT COUNT(*) AS n FROM patients p LEFT JOIN visits v ON v.patient = p.id LEFT JOIN wards w ON w.ward = v.ward WHERE w.floor = 2

SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM visits w WHERE w.patient = v.patient AND w.day > v.day AND DATE_DIFF('day', v.day, w.day) <= 30)

SELECT ward, COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM visits WHERE patient = v.patient AND day < v.day) GROUP BY ward

SELECT COUNT(*) AS n FROM patients p WHERE p.id = ANY (SELECT patient FROM visits WHERE ward = 'c')

SELECT COUNT(*) AS n FROM visits WHERE (patient, ward) IN (SELECT patient, ward FROM visits WHERE cost > 500)

SELECT COUNT(*) AS n FROM visits v WHERE (SELECT ANY_VALUE(sex) FROM patients p WHERE p.id = v.patient) = 'F'

-- university
SELECT faculty, COUNT(*) AS n FROM students JOIN enrolments USING (student_id) GROUP BY faculty

SELECT faculty, AVG(grade) AS mean FROM students NATURAL JOIN enrolments GROUP BY faculty

SELECT c.school, s.faculty, COUNT(*) AS n FROM enrolments e JOIN students s USING (student_id) JOIN courses c USING (course) GROUP BY c.school, s.faculty

SELECT AVG(credits) AS mean FROM (SELECT e.student_id, SUM(c.credits) AS credits FROM enrolments e JOIN courses c ON c.course = e.course WHERE e.grade >= 6 GROUP BY e.student_id) t

SELECT faculty, AVG(mean) AS mean FROM (SELECT s.student_id, s.faculty, AVG(e.grade) AS mean FROM students s JOIN enrolments e ON e.student_id = s.student_id GROUP BY s.student_id, s.faculty) t GROUP BY faculty

SELECT COUNT(*) AS n FROM students s WHERE NOT EXISTS (SELECT 1 FROM enrolments e WHERE e.student_id = s.student_id AND e.year = 2024)

SELECT COUNT(*) AS n FROM students LEFT JOIN enrolments USING (student_id) WHERE course IS NULL

SELECT COUNT(*) AS n FROM enrolments a JOIN enrolments b USING (student_id) WHERE a.course = 'c1' AND b.course = 'c2' AND a.grade > b.grade

SELECT entered, COUNT(DISTINCT student_id) AS n FROM students JOIN enrolments USING (student_id) WHERE grade < 6 GROUP BY entered ORDER BY entered

SELECT COUNT(*) AS n FROM (SELECT student_id FROM enrolments WHERE year = 2023 EXCEPT SELECT student_id FROM enrolments WHERE year = 2024) gone

SELECT CASE WHEN best >= 9 THEN 'excellent' WHEN best >= 6 THEN 'passed' ELSE 'failed' END AS class, COUNT(*) AS n FROM (SELECT student_id, MAX(grade) AS best FROM enrolments GROUP BY student_id) t GROUP BY class

SELECT COUNT(*) AS n FROM (SELECT student_id, course FROM enrolments WHERE year = 2024 INTERSECT SELECT student_id, course FROM enrolments WHERE grade > 5) t

SELECT course, COUNT(*) AS n FROM enrolments WHERE student_id IN (SELECT student_id FROM students WHERE faculty = 'law') GROUP BY course ORDER BY course LIMIT 2

SELECT COUNT(*) FILTER (WHERE e.grade >= 6) * 1.0 / COUNT(*) AS passed FROM students s INNER JOIN enrolments e ON s.student_id = e.student_id WHERE s.entered > 2020

SELECT COUNT(*) AS n FROM students s WHERE s.student_id IN (SELECT e.student_id FROM enrolments e GROUP BY e.student_id HAVING COUNT(*) >= 3)

SELECT MEDIAN(best) AS median FROM (SELECT student_id, MAX(grade) AS best FROM enrolments GROUP BY student_id) t

SELECT COUNT(*) AS n FROM enrolments e WHERE e.grade = (SELECT MAX(grade) FROM enrolments x WHERE x.student_id = e.student_id)

-- shop
SELECT region, COUNT(*) AS n FROM customers c JOIN orders o ON o.customer = c.id GROUP BY region

SELECT channel, SUM(total) AS total FROM orders JOIN customers ON customers.id = orders.customer WHERE region = 'north' GROUP BY channel

SELECT AVG(spent) AS mean FROM (SELECT customer, SUM(total) AS spent FROM orders GROUP BY customer) t

SELECT COUNT(*) AS n FROM lines

SELECT SUM(pieces * price) AS revenue FROM lines

SELECT SUM(l.pieces) AS n FROM lines l JOIN orders o ON o.id = l."order" WHERE o.channel = 'web'

SELECT COUNT(*) AS n FROM lines l JOIN orders o ON o.id = l."order" JOIN customers c ON c.id = o.customer JOIN suppliers s ON s.id = l.supplier WHERE c.region = s.region

SELECT COUNT(*) AS n FROM lines l JOIN suppliers s ON s.id = l.supplier WHERE s.region = 'south'

SELECT COUNT(*) AS n FROM customers WHERE id NOT IN (SELECT customer FROM orders WHERE channel = 'web')

SELECT COUNT(*) AS n FROM (SELECT customer FROM orders WHERE channel = 'web' INTERSECT SELECT customer FROM orders WHERE channel = 'store') t

SELECT COUNT(*) AS n FROM customers c JOIN suppliers s ON s.region = c.region

-- census
SELECT region, COUNT(*) AS n FROM households h JOIN persons p ON p.household = h.id GROUP BY region

SELECT region, AVG(size) AS mean FROM (SELECT h.id, h.region, COUNT(*) AS size FROM households h JOIN persons p ON p.household = h.id GROUP BY h.id, h.region) t GROUP BY region

SELECT size, COUNT(*) AS households FROM (SELECT household, COUNT(*) AS size FROM persons GROUP BY household) t GROUP BY size ORDER BY size

SELECT MEDIAN(income) AS median FROM (SELECT household, SUM(income) AS income FROM persons GROUP BY household) t

SELECT COUNT(*) AS n FROM households h WHERE EXISTS (SELECT 1 FROM persons p WHERE p.household = h.id AND p.role = 'child' AND p.age < 18)

SELECT COUNT(*) AS n FROM households h WHERE NOT EXISTS (SELECT 1 FROM persons p WHERE p.household = h.id AND p.age < 65)

SELECT COUNT(*) AS n FROM households h WHERE h.rooms < (SELECT COUNT(*) FROM persons p WHERE p.household = h.id)

SELECT AVG(a.age - b.age) AS gap FROM persons a JOIN persons b ON a.household = b.household WHERE a.role = 'head' AND b.role = 'partner'

SELECT h.region, p.sex, COUNT(*) AS n FROM persons p, households h WHERE h.id = p.household AND p.role = 'head' GROUP BY h.region, p.sex

SELECT region, SUM(top) / COUNT(*) AS mean FROM (SELECT h.id, h.region, MAX(p.income) AS top FROM households h JOIN persons p ON h.id = p.household GROUP BY h.id, h.region) t GROUP BY region

SELECT COUNT(*) AS n FROM persons p JOIN (SELECT household, MAX(income) AS top FROM persons GROUP BY household) m ON m.household = p.household AND m.top = p.income WHERE p.role <> 'head'

SELECT COUNT(*) AS n FROM (SELECT household FROM persons WHERE role = 'head' AND sex = 'F' EXCEPT SELECT household FROM persons WHERE role = 'partner') t

SELECT region, COUNT(*) AS n FROM households WHERE id IN (SELECT household FROM persons WHERE age >= 80) GROUP BY region

SELECT CASE WHEN rooms >= size THEN 'enough' ELSE 'crowded' END AS space, COUNT(*) AS n FROM (SELECT h.id, h.rooms, COUNT(p.id) AS size FROM households h LEFT JOIN persons p ON p.household = h.id GROUP BY h.id, h.rooms) t GROUP BY space

SELECT COUNT(DISTINCT p.household) AS n FROM persons p WHERE p.income > 50000
