/** The page: its style and its script. */
import "./style/main.css";
import "./shell/start.js";
