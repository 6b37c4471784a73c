// The page to ask on, with a script: highlighting, the slider, margins as you type, progress.
// Without it the form works as it is.
"use strict";

const form = document.getElementById("ask");
const sql = document.getElementById("sql");
const overlay = document.querySelector(".overlay");
const amount = document.getElementById("amount");
const slider = document.getElementById("slider");
const expected = document.getElementById("expected");
const token = form.elements.token.value;

document.documentElement.classList.add("js");

// Highlighting: the text is set again in an overlay, piece by piece; the textarea stays the truth.

const PIECES = /(--[^\n]*)|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(\b\d+(?:\.\d+)?\b)|([A-Za-z_]\w*)/g;
const WORDS = new Set(("select from where group by order having limit offset as and or not in is null " +
  "between like case when then else end distinct filter join left inner on using with asc desc nulls " +
  "first last union all true false cast extract interval date within over count sum avg min max median " +
  "stddev variance percentile_cont").split(" "));
const COLUMNS = new Set([...document.querySelectorAll("[data-insert]")].map((one) => one.dataset.insert));
const wrong = document.querySelector(".pointer")?.dataset.position;
let marked = wrong === undefined ? null : { text: sql.value, at: Number(wrong) };

function classOf(match) {
  if (match[1]) return "r";
  if (match[2]) return "s";
  if (match[4]) return "d";
  const name = match[0];
  if (COLUMNS.has(name)) return "c";
  return match[5] && WORDS.has(name.toLowerCase()) ? "w" : "";
}

function piece(text, kind) {
  if (!kind) return document.createTextNode(text);
  const span = document.createElement("span");
  span.className = kind;
  span.textContent = text;
  return span;
}

function highlight() {
  const text = sql.value;
  const at = marked && marked.text === text ? marked.at : -1;
  const drawn = [];
  let done = 0;
  for (const match of text.matchAll(PIECES)) {
    if (match.index > done) drawn.push(piece(text.slice(done, match.index), at >= done && at < match.index ? "wrong" : ""));
    done = match.index + match[0].length;
    const inside = at >= match.index && at < done;
    drawn.push(piece(match[0], classOf(match) + (inside ? " wrong" : "")));
  }
  drawn.push(piece(text.slice(done) + "\n", at >= done ? "wrong" : ""));
  overlay.replaceChildren(...drawn);
}

// The schema and the examples write into the editor.

function insert(text) {
  sql.focus();
  sql.setRangeText(text, sql.selectionStart, sql.selectionEnd, "end");
  changed();
}

for (const one of document.querySelectorAll("[data-insert]")) {
  one.addEventListener("click", () => insert(one.dataset.insert));
}
for (const one of document.querySelectorAll("[data-example]")) {
  one.addEventListener("click", (event) => {
    event.preventDefault();
    sql.value = one.dataset.example;
    sql.focus();
    changed();
  });
}

// The slider: a logarithmic scale, from a thousandth to what is left.

const left = Math.max(Number(form.dataset.left), 0.002);
slider.min = -3;
slider.max = Math.max(Math.log10(left), -2.7);
slider.step = 0.005;

function number(text) {
  const [over, under] = text.split("/").map(Number);
  return under === undefined ? over : over / under;
}

function fromSlider() {
  const chosen = Number(slider.value) >= Number(slider.max) - 0.003 ? left : 10 ** Number(slider.value);
  amount.value = String(Number(chosen.toPrecision(2)) > left ? Number(form.dataset.left) : Number(chosen.toPrecision(2)));
  say();
  later();
}

function toSlider() {
  const value = number(amount.value);
  if (value > 0) slider.value = Math.log10(value);
  say();
}

function say() {
  slider.setAttribute("aria-valuetext", amount.value);
}

// Margins as you type: asked for when you pause, and never paid for.

let waiting = 0;
let asking = null;

function later() {
  clearTimeout(waiting);
  waiting = setTimeout(plan, 300);
}

async function send(address, signal) {
  const body = new URLSearchParams(new FormData(form));
  body.delete("token");
  const headers = { accept: "application/json", "x-token": token };
  const answer = await fetch(address, { method: "POST", headers, body, signal });
  if (answer.status === 401) location.assign("/sign-in");
  return answer;
}

async function plan() {
  asking?.abort();
  asking = new AbortController();
  if (!sql.value.trim()) return tell([note("Write a question, and its margin appears here.")]);
  try {
    const answer = await send("/plan", asking.signal);
    if (answer.ok) shown(await answer.json());
  } catch (error) {
    if (error.name !== "AbortError") tell([note("The server cannot be reached.")]);
  }
}

function shown(found) {
  if (found.error) return tell([note(`Not a question yet: ${found.error.message}.`)]);
  const list = document.createElement("dl");
  for (const [name, text] of found.margins) {
    const row = document.createElement("div");
    const term = document.createElement("dt");
    const said = document.createElement("dd");
    term.textContent = name;
    said.textContent = text;
    row.append(term, said);
    list.append(row);
  }
  const cost = `With ${found.confidence} confidence. It costs ${found.cost}`;
  const end = found.fits ? ` and leaves ${found.left}.` : ": more than what is left, so it would be refused.";
  const sum = note(cost + end);
  sum.classList.toggle("over", !found.fits);
  const beside = found.left_out.map((said) => note(`${said[0].toUpperCase()}${said.slice(1)}.`));
  tell([list, sum, ...beside]);
}

function note(text) {
  const made = document.createElement("p");
  made.className = "soft";
  made.textContent = text;
  return made;
}

function tell(parts) {
  expected.replaceChildren(expected.querySelector("h2"), ...parts);
}

function changed() {
  highlight();
  later();
}

// Asking: the question runs on the server, which tells its stages; it can be cancelled.

const progress = document.getElementById("progress");
const status = document.getElementById("status");
const cancel = document.getElementById("cancel");
const SAID = { planned: "Paying…", paid: "Reading the data and adding noise…", answered: "Done." };

function follow(at) {
  const source = new EventSource(`${at}/events`);
  source.addEventListener("message", (event) => {
    progress.querySelector(`[data-stage="${event.data}"]`)?.classList.add("done");
    if (SAID[event.data]) status.textContent = SAID[event.data];
    if (event.data !== "done") return;
    source.close();
    location.assign(at);
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) location.assign(at); // the page there knows more
  });
  cancel.onclick = async () => {
    cancel.disabled = true;
    status.textContent = "Cancelling…";
    await send(`${at}/cancel`);
  };
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = document.getElementById("go");
  button.disabled = true;
  try {
    const answer = await send("/ask");
    if (!answer.ok) throw new Error(answer.statusText);
    progress.hidden = false;
    status.textContent = "Planning…";
    cancel.focus();
    follow((await answer.json()).at);
  } catch {
    button.disabled = false;
    form.submit(); // as a plain form: the page that comes says what is wrong
  }
});

sql.addEventListener("input", changed);
sql.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});
amount.addEventListener("input", () => { toSlider(); later(); });
slider.addEventListener("input", fromSlider);
for (const name of ["confidence", "delta"]) form.elements[name].addEventListener("input", later);
if (matchMedia("(max-width: 62rem)").matches) document.querySelector(".fold").removeAttribute("open");
document.getElementById("trouble")?.focus();
toSlider();
changed();
