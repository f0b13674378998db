import { render } from "preact";
import { App } from "./app";
import "./styles/frame.css";
import "./styles/parts.css";
import "./styles/media.css";
import { applyTheme, storedTheme } from "./theme";

applyTheme(storedTheme());
render(<App />, document.getElementById("console")!);
