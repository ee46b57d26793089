import "graphiql/style.css";
import "./console.css";
import "./widths.css";
import "./workers";

import { createRoot } from "react-dom/client";

import { App } from "./app";

const root = document.getElementById("console");
if (root) createRoot(root).render(<App />);
