// The page: which run, which query and which view is shown, and news from the server.

import { forget } from "./curves.js";
import { element } from "./dom.js";
import { STILL, TITLES, VIEWS } from "./views.js";

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
  forget();
}

async function show() {
  const shown = `${chosen.run}/${chosen.query}/${chosen.view}`;
  if (STILL.has(chosen.view) && at("view").dataset.shown === shown) return;
  const mine = ++asked;
  try {
    const data = await ask(chosen.view);
    if (mine !== asked) return;
    const parts = VIEWS[chosen.view](data, { ask, refresh: show, of: `${chosen.run}/${chosen.query}` });
    at("view").replaceChildren(...parts.filter(Boolean));
    forget();
    at("view").dataset.view = chosen.view;
    at("view").dataset.shown = shown;
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
  orders(found.control && mine.is_running);
  return found;
}

const ORDERS = [["Stop", "stop", ""], ["Plan again", "replan", "on"], ["Only advise", "replan", "advise"],
  ["Keep the plan", "replan", "off"], ["May shed", "shed", "on"], ["Must not shed", "shed", "off"]];

function orders(isShown) {
  at("orders").hidden = !isShown;
  if (!isShown || at("orders").childElementCount) return;
  const said = element("span", { class: "faint", role: "status" });
  const give = async (kind, value) => {
    try {
      const body = JSON.stringify({ kind, value });
      const { given } = await ask("orders", {}, { method: "POST", body });
      said.textContent = `${given}: given; the answer is among the decisions`;
    } catch (error) {
      said.textContent = error.message;
    }
  };
  at("orders").append(...ORDERS.map(([name, kind, value]) => element("button", { type: "button",
    onclick: () => { if (kind !== "stop" || confirm("End this query?")) give(kind, value); } }, name)), said);
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
refresh();
if (!new URLSearchParams(location.search).has("still")) listen();
