// The console: GraphiQL with the server's schema, and panels of our own.

import { DOC_EXPLORER_PLUGIN } from "@graphiql/plugin-doc-explorer";
import type { GraphiQLPlugin } from "@graphiql/react";
import { GraphiQL } from "graphiql";
import { buildSchema, print, type GraphQLSchema } from "graphql";
import { useCallback, useEffect, useMemo, useState } from "react";

import { Appearance } from "./appearance";
import { Away } from "./away";
import { Completion } from "./completion";
import { parsed } from "./document";
import { example, isValid } from "./example";
import { EXPLORER } from "./explorer/panel";
import { PAGES } from "./pages/panel";
import { PLAN } from "./plan/panel";
import { Marks } from "./price/marks";
import { PRICE } from "./price/panel";
import { PriceNow } from "./price/price_now";
import { PriceWatch } from "./price/watch";
import { execute } from "./execute";
import { HeaderCompletion } from "./headers";
import { HISTORY } from "./history/panel";
import { Notice } from "./response/notice";
import { messageOf, schemaText } from "./server";
import { askToSignIn, session, watchExpiry } from "./session";
import { SHARE } from "./share/panel";
import { Account, SignInDialog } from "./sign_in";
import { useStore } from "./store";
import { FIRST_QUERY } from "./timeline/pages";
import { TIMELINE } from "./timeline/panel";

/** A query in the page's address, for links to the console. */
const linked = new URLSearchParams(location.search);

/** The query of the address. One in a single line is written in several. Without its comments it would be another text. */
function linkedQuery(): string | undefined {
  const query = linked.get("query") ?? undefined;
  const document = query === undefined || query.includes("#") ? null : parsed(query);
  return document ? `${print(document)}\n` : query;
}

/** The panels. That of orders needs the types of the built-in schema; an operator may serve another one. */
function plugins(schema: GraphQLSchema): GraphiQLPlugin[] {
  return [EXPLORER, PRICE, PLAN, PAGES, ...(isValid(schema, FIRST_QUERY) ? [TIMELINE] : []), HISTORY, SHARE];
}

function Console({ schema }: { schema: GraphQLSchema }) {
  const panels = useMemo(() => plugins(schema), [schema]);
  const [query] = useState(() => example(schema));
  return (
    <GraphiQL
      fetcher={execute}
      schema={schema}
      plugins={panels}
      referencePlugin={DOC_EXPLORER_PLUGIN}
      visiblePlugin={PRICE.title}
      storage={sessionStorage}
      defaultQuery={query}
      initialQuery={linkedQuery()}
      initialVariables={linked.get("variables") ?? undefined}
      shouldPersistHeaders
      showPersistHeadersSettings={false}
      dangerouslyAssumeSchemaIsValid
    >
      <GraphiQL.Logo>
        <PriceNow />
        <Account />
      </GraphiQL.Logo>
      <GraphiQL.Footer>
        <Notice />
      </GraphiQL.Footer>
      <PriceWatch />
      <Marks />
      <Completion />
      <HeaderCompletion />
      <Appearance />
    </GraphiQL>
  );
}

/** How wide the panel is beside the rest, and the editor beside the response, until somebody moves their borders. */
const WIDTHS = innerWidth > 1300 ? { docExplorerFlex: "0.36", editorFlex: "1.7" } : { docExplorerFlex: "0.4", editorFlex: "1.2" };
for (const [name, width] of Object.entries(WIDTHS)) {
  const key = `graphiql:${name}`;
  if (!sessionStorage.getItem(key)) sessionStorage.setItem(key, width);
}

export function App() {
  const [schema, setSchema] = useState<GraphQLSchema | null>(null);
  const [error, setError] = useState("");
  const token = useStore(session)?.token;
  const load = useCallback(() => {
    let isCurrent = true;
    setError("");
    schemaText(token)
      .then((text) => isCurrent && setSchema(buildSchema(text)))
      .catch((failure: unknown) => isCurrent && setError(messageOf(failure)));
    return () => {
      isCurrent = false;
    };
  }, [token]);
  useEffect(load, [load]);
  useEffect(() => {
    // The tab keeps the query. With the link in its address, loading the page again would bring back the query of the link.
    window.history.replaceState(null, "", location.pathname);
    if (!session.get()) askToSignIn();
    return watchExpiry();
  }, []);
  return (
    <main>
      <h1 className="oq-title">orderql console</h1>
      {schema && <Console schema={schema} />}
      {/* GraphiQL defines its colours on this class. */}
      <div className="graphiql-container oq-colours">
        {!schema && (error ? <Away message={error} retry={load} /> : <p className="loading">Loading the schema…</p>)}
        <SignInDialog />
      </div>
    </main>
  );
}
