/** Starts the page. */
import { render } from "preact";
import "./style/main.css";
import { html } from "./html.js";
import * as prefs from "./state/prefs.js";
import * as store from "./state/store.js";
import { App } from "./view/app.js";
import * as keys from "./view/keys.js";

prefs.start();
keys.start();
store.start();
render(html`<${App} />`, document.getElementById("app"));
