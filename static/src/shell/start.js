/** Starts the page. */
import { render } from "preact";
import { html } from "../html.js";
import * as prefs from "../state/prefs.js";
import * as saved from "../state/saved.js";
import * as steps from "../state/steps.js";
import * as store from "../state/store.js";
import { readWords } from "../widgets/words.js";
import { App } from "./app.js";
import * as hear from "./hear.js";
import * as single from "../planner/single.js";
import * as misread from "./misread.js";

prefs.start();
hear.start();
steps.start();
store.start();
saved.start();
misread.start();
single.start();
render(html`<${App} />`, document.getElementById("app"));
void readWords();
