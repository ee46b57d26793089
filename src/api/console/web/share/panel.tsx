// The panel that gives the query and its response to others: as a command, as a link and as files.

import { tryParseJSONC, useGraphiQL, type GraphiQLPlugin } from "@graphiql/react";
import { useState } from "react";

import { requestHeaders } from "../headers";
import { icon } from "../icon";
import { useOperation } from "../operation";
import { connections, pageOf } from "../pages/connections";
import { csv } from "../pages/table";
import { useShown, type Answered } from "../response/answered";
import { messageOf, schemaText, tokenUrl, type Operation } from "../server";
import { session } from "../session";
import { useStore } from "../store";
import { curl, link, tokenCommand } from "./curl";
import { copy, save } from "./files";

/** Longer links are cut by some programs that pass them on. */
const LONG_LINK = 2000;

const URL_OF_PAGE = location.origin + location.pathname;

function Text({ label, text }: { label: string; text: string }) {
  const [status, setStatus] = useState("");
  return (
    <>
      <pre className="oq-wrapped" tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <div className="oq-buttons">
        <button
          type="button"
          onClick={() => void copy(text).then((isCopied) => setStatus(isCopied ? "Copied." : "Select it above to copy it."))}
        >
          Copy {label}
        </button>
        <span role="status">{status}</span>
      </div>
    </>
  );
}

/** The headers in the editor, or what is wrong with them. */
function useHeaders(): { headers: Record<string, string>; error: string } {
  const text = useGraphiQL((state) => state.tabs[state.activeTabIndex]?.headers);
  try {
    return { headers: requestHeaders(tryParseJSONC(text ?? "")), error: "" };
  } catch (failure) {
    return { headers: {}, error: `Headers: ${messageOf(failure)}` };
  }
}

function Command({ operation }: { operation: Operation }) {
  const current = useStore(session);
  const { headers, error } = useHeaders();
  const [withToken, setWithToken] = useState(false);
  const token = withToken ? current?.token : undefined;
  return (
    <section aria-labelledby="command">
      <h3 id="command">Command</h3>
      <p className="oq-error">{error}</p>
      <Text label="curl" text={curl(URL_OF_PAGE, operation, headers, token)} />
      {current && (
        <label>
          <input type="checkbox" checked={withToken} onChange={(event) => setWithToken(event.target.checked)} /> with my token in clear
        </label>
      )}
      {token ? (
        <p className="oq-warning">Whoever has this command can do what you may do, until the token expires.</p>
      ) : (
        <>
          <p className="oq-note">The token is a variable of the shell. This command gets one:</p>
          <Text label="token command" text={tokenCommand(tokenUrl(), current?.user ?? "USER")} />
        </>
      )}
    </section>
  );
}

function Link({ operation }: { operation: Operation }) {
  const text = link(URL_OF_PAGE, operation);
  return (
    <section aria-labelledby="link">
      <h3 id="link">Link</h3>
      <Text label="link" text={text} />
      <p className="oq-note">
        It opens the console with the query and its variables, and has no token.
        {text.length > LONG_LINK && " It is long: some programs cut it."}
      </p>
    </section>
  );
}

function Lists({ shown }: { shown: Answered }) {
  const schema = useGraphiQL((state) => state.schema);
  const found = schema ? connections(schema, shown.operation) : [];
  const pages = found.flatMap((connection) => {
    const page = pageOf(shown.response.data, connection);
    return page && page.nodes.length > 0 ? [{ name: connection.name, nodes: page.nodes }] : [];
  });
  return pages.map(({ name, nodes }) => (
    <button key={name} type="button" onClick={() => save(`${name}.csv`, "text/csv", csv(nodes))}>
      {name}.csv
    </button>
  ));
}

function Files() {
  const shown = useShown();
  const token = useStore(session)?.token;
  const [error, setError] = useState("");
  const schema = () =>
    schemaText(token).then(
      (text) => save("schema.graphql", "application/graphql", text),
      (failure: unknown) => setError(messageOf(failure)),
    );
  return (
    <section aria-labelledby="files">
      <h3 id="files">Files</h3>
      <div className="oq-buttons">
        {shown && (
          <>
            <button type="button" onClick={() => save("response.json", "application/json", JSON.stringify(shown.response, null, 2))}>
              response.json
            </button>
            <Lists shown={shown} />
          </>
        )}
        <button type="button" onClick={() => void schema()}>
          schema.graphql
        </button>
      </div>
      <p role="alert" className="oq-error">
        {error}
      </p>
      {!shown && <p className="oq-note">When the query has run, its response can be saved, and its lists as CSV.</p>}
    </section>
  );
}

function Share() {
  const operation = useOperation();
  return (
    <div className="oq-panel">
      <h2>Share</h2>
      <Files />
      {operation ? (
        <>
          <Link operation={operation} />
          <Command operation={operation} />
        </>
      ) : (
        <p>Write a query to share it as a link or as a command.</p>
      )}
    </div>
  );
}

const ShareIcon = icon(<path d="M8 10V2M5 4.7 8 1.7l3 3M4.5 7H3v7.5h10V7h-1.5" />);

export const SHARE: GraphiQLPlugin = { title: "Share", icon: ShareIcon, content: Share };
