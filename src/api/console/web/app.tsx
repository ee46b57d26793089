// The console: GraphiQL with the server's schema, and panels of our own.

import { DOC_EXPLORER_PLUGIN } from "@graphiql/plugin-doc-explorer";
import type { GraphiQLPlugin } from "@graphiql/react";
import { GraphiQL } from "graphiql";
import { buildSchema, GraphQLSchema } from "graphql";
import { useEffect, useState } from "react";

import { Appearance } from "./appearance";
import { Completion } from "./completion";
import { example, isValid } from "./example";
import { EXPLORER } from "./explorer/panel";
import { PAGES } from "./pages/panel";
import { PLAN } from "./plan/panel";
import { Marks } from "./price/marks";
import { PRICE } from "./price/panel";
import { PaidNow } from "./price/paid_now";
import { PriceNow } from "./price/price_now";
import { PriceWatch } from "./price/watch";
import { execute } from "./execute";
import { schemaText } from "./server";
import { askToSignIn } from "./session";
import { Account, SignInDialog } from "./sign_in";
import { QUERY } from "./timeline/events";
import { TIMELINE } from "./timeline/panel";

/** A query in the page's address, for links to the console. */
const linked = new URLSearchParams(location.search);

/** The panels. That of orders needs the types of the built-in schema; an operator may serve another one. */
function plugins(schema: GraphQLSchema): GraphiQLPlugin[] {
  return [EXPLORER, PRICE, PLAN, PAGES, ...(isValid(schema, QUERY) ? [TIMELINE] : [])];
}

function Console({ schema }: { schema: GraphQLSchema }) {
  const [panels] = useState(() => plugins(schema));
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
      initialQuery={linked.get("query") ?? undefined}
      initialVariables={linked.get("variables") ?? undefined}
      isHeadersEditorEnabled={false}
      showPersistHeadersSettings={false}
      dangerouslyAssumeSchemaIsValid
    >
      <GraphiQL.Logo>
        <PriceNow />
        <Account />
      </GraphiQL.Logo>
      <GraphiQL.Footer>
        <PaidNow />
      </GraphiQL.Footer>
      <PriceWatch />
      <Marks />
      <Completion />
      <Appearance />
    </GraphiQL>
  );
}

/** The schema of a published text, whose first comment describes it. */
function described(text: string): GraphQLSchema {
  const schema = buildSchema(text);
  const comment = /^(?:#.*\n)+/.exec(text)?.[0].replace(/^# ?/gm, "");
  return new GraphQLSchema({ ...schema.toConfig(), description: schema.description ?? comment });
}

/** Half of the width is for the panel, until somebody moves its border. */
const WIDTH = "graphiql:docExplorerFlex";
if (!sessionStorage.getItem(WIDTH)) sessionStorage.setItem(WIDTH, "0.5");

export function App() {
  const [schema, setSchema] = useState<GraphQLSchema | null>(null);
  const [error, setError] = useState("");
  useEffect(() => {
    schemaText()
      .then((text) => setSchema(described(text)))
      .catch((failure: unknown) => setError(String(failure)));
    askToSignIn();
  }, []);
  return (
    <main>
      <h1 className="oq-title">orderql console</h1>
      {error && (
        <p role="alert" className="oq-error">
          {error}
        </p>
      )}
      {schema ? <Console schema={schema} /> : !error && <p className="loading">Loading the schema…</p>}
      <SignInDialog />
    </main>
  );
}
