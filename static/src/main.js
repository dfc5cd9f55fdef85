/** Starts the page. */
import { render } from "preact";
import "./style/main.css";
import { html } from "./html.js";
import * as prefs from "./state/prefs.js";
import * as steps from "./state/steps.js";
import * as store from "./state/store.js";
import { App } from "./shell/app.js";
import * as keys from "./shell/keys.js";

prefs.start();
keys.start();
steps.start();
store.start();
render(html`<${App} />`, document.getElementById("app"));
