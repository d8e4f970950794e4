// The page: which run, which query and which view is shown, and news from the server.

import { element } from "./dom.js";
import { TITLES, VIEWS } from "./views.js";

const token = new URLSearchParams(location.search).get("token") || "";
const chosen = { run: 0, query: "", view: "now" };
const at = (id) => document.getElementById(id);
let listening = null;
let asked = 0;

function address(path, more = {}) {
  const asking = new URLSearchParams({ token, run: chosen.run, ...more });
  if (chosen.query) asking.set("query", chosen.query);
  return `/api/${path}?${asking}`;
}

export async function ask(path, more = {}, options = {}) {
  const answer = await fetch(address(path, more), options);
  const found = await answer.json();
  if (!answer.ok) throw new Error([found.error, found.hint].filter(Boolean).join(" – "));
  return found;
}

function failed(error) {
  at("view").replaceChildren(element("p", { class: "bad", role: "alert" }, error.message));
}

async function show() {
  const mine = ++asked;
  try {
    const data = await ask(chosen.view);
    if (mine !== asked) return;
    const parts = VIEWS[chosen.view](data, { ask, refresh: show });
    at("view").replaceChildren(...parts.filter(Boolean));
    at("view").dataset.view = chosen.view;
  } catch (error) {
    if (mine === asked) failed(error);
  }
}

async function list() {
  const found = await ask("runs");
  const mine = found.runs[chosen.run];
  at("runs").replaceChildren(...found.runs.map((run) => element("option",
    { value: run.run, selected: run.run === chosen.run }, run.checkpoint)));
  at("which").hidden = !mine.queries.length;
  at("queries").replaceChildren(element("option", { value: "" }, "all"), ...mine.queries.map((name) =>
    element("option", { value: name, selected: name === chosen.query }, name)));
  at("standing").textContent = mine.verdict;
  at("views").replaceChildren(...found.views.filter((name) => VIEWS[name]).map((name) => element("button", {
    type: "button", "data-view": name, "aria-current": name === chosen.view ? "page" : null,
    onclick: () => { chosen.view = name; location.hash = name; refresh(); } }, TITLES[name])));
  return found;
}

async function refresh() {
  try {
    await list();
    await show();
  } catch (error) {
    failed(error);
  }
}

function listen() {
  if (listening) listening.close();
  listening = new EventSource(address("events"));
  listening.onmessage = refresh;
}

at("runs").addEventListener("change", (event) => {
  chosen.run = Number(event.target.value);
  chosen.query = "";
  listen();
});
at("queries").addEventListener("change", (event) => { chosen.query = event.target.value; refresh(); });
addEventListener("hashchange", () => {
  const name = location.hash.slice(1);
  if (VIEWS[name] && name !== chosen.view) { chosen.view = name; refresh(); }
});

if (VIEWS[location.hash.slice(1)]) chosen.view = location.hash.slice(1);
if (new URLSearchParams(location.search).has("still")) refresh();
else listen();
