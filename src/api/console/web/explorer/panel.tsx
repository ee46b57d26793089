// The panel that builds a query by choosing fields, with the mouse or the keyboard.

import { useGraphiQL, type GraphiQLPlugin } from "@graphiql/react";
import { getNamedType, isEnumType, isScalarType, type GraphQLArgument, type SelectionSetNode, type ValueNode } from "graphql";

import { useMemo, useState } from "react";

import { useQueryText } from "../editors";
import { icon } from "../icon";
import { count } from "../numbers";
import { MOST, pathOf, search, type Chain } from "./search";
import { argued, fieldAtPath, fieldsBelow, rootGroups, selectionOf, shown, toggled, valueOf, type Field, type Path } from "./selection";

/** What the tree does with the query. */
interface Tree {
  selection: SelectionSetNode;
  toggle(path: Path, field: Field, around?: Chain): void;
  argue(path: Path, argument: string, value: ValueNode | null): void;
}

const NO_TEXTS = ["Int", "Float", "Boolean"];

function Argument({ tree, path, argument }: { tree: Tree; path: Path; argument: GraphQLArgument }) {
  const type = getNamedType(argument.type);
  const given = fieldAtPath(tree.selection, path)?.arguments?.find((one) => one.name.value === argument.name);
  const value = shown(given?.value);
  const change = (written: string) => {
    if (written !== value) tree.argue(path, argument.name, valueOf(written, isScalarType(type) && !NO_TEXTS.includes(type.name)));
  };
  const choices = isEnumType(type) ? type.getValues().map(({ name }) => name) : type.name === "Boolean" ? ["true", "false"] : null;
  return (
    <label title={argument.description ?? undefined} className={argument.name === "query" ? "oq-wide" : undefined}>
      {argument.name}{" "}
      {choices ? (
        <select value={value} onChange={(event) => change(event.target.value)}>
          {[...new Set(["", ...choices, value])].map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : (
        <input
          // A new one when the query changes elsewhere.
          key={value}
          defaultValue={value}
          onBlur={(event) => change(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") change(event.currentTarget.value);
          }}
        />
      )}
    </label>
  );
}

function Fields({ tree, path, fields }: { tree: Tree; path: Path; fields: Field[] }) {
  return (
    <ul className="oq-tree">
      {fields.map((field) => {
        const own = [...path, field.name];
        const isSelected = fieldAtPath(tree.selection, own) !== undefined;
        const below = fieldsBelow(field);
        return (
          <li key={field.name}>
            <label title={field.description ?? undefined}>
              <input type="checkbox" checked={isSelected} onChange={() => tree.toggle(own, field)} />
              {field.name}
              {below.fields.length > 0 && !isSelected && " …"}
            </label>
            {isSelected && field.args.length > 0 && (
              <div className="oq-buttons">
                {field.args.map((argument) => (
                  <Argument key={argument.name} tree={tree} path={own} argument={argument} />
                ))}
              </div>
            )}
            {isSelected && below.fields.length > 0 && <Fields tree={tree} path={[...own, ...below.path]} fields={below.fields} />}
          </li>
        );
      })}
    </ul>
  );
}

/** The fields that somebody searches, each with the way to it. */
function Found({ tree, chains }: { tree: Tree; chains: Chain[] }) {
  return (
    <>
      <p role="status">{chains.length > MOST ? `The first ${MOST} of ${count(chains.length, "field")}` : count(chains.length, "field")}</p>
      <ul className="oq-tree">
        {chains.slice(0, MOST).map((chain) => {
          const path = pathOf(chain);
          const field = chain.at(-1)!;
          return (
            <li key={path.join(".")}>
              <label title={field.description ?? undefined}>
                <input
                  type="checkbox"
                  checked={fieldAtPath(tree.selection, path) !== undefined}
                  onChange={() => tree.toggle(path, field, chain)}
                />
                {chain.slice(0, -1).map(({ name }) => `${name} › `)}
                <strong>{field.name}</strong>
              </label>
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Explorer() {
  const schema = useGraphiQL((state) => state.schema);
  const operationName = useGraphiQL((state) => state.operationName);
  const [text, change] = useQueryText();
  const [wanted, setWanted] = useState("");
  const groups = useMemo(() => (schema ? rootGroups(schema) : []), [schema]);
  const found = useMemo(() => (schema ? search(schema, wanted.trim().toLowerCase()) : []), [schema, wanted]);
  const selection = selectionOf(text, operationName);
  const tree: Tree | null = selection && {
    selection,
    toggle: (path, field, around) => change((now) => toggled(now, operationName, path, field, around)),
    argue: (path, argument, value) => change((now) => argued(now, operationName, path, argument, value)),
  };
  return (
    <div className="oq-panel">
      <h2>Explorer</h2>
      {!selection && <p>The query has an error of syntax. Fields can be chosen when it is corrected.</p>}
      <label className="oq-search">
        Search <input type="search" value={wanted} onChange={(event) => setWanted(event.target.value)} spellCheck={false} />
      </label>
      {tree && wanted.trim() && <Found tree={tree} chains={found} />}
      {tree &&
        !wanted.trim() &&
        groups.map(({ title, roots }) => (
          <details key={title} open className="oq-group">
            <summary>{title}</summary>
            <Fields tree={tree} path={[]} fields={roots} />
          </details>
        ))}
    </div>
  );
}

const ExplorerIcon = icon(<path d="M2 2.5h4v4H2zM9.5 4.5H14M6 11.5h3M2.7 4.4l1 1 1.6-2M10 9.5h4v4h-4zM4 6.5v5h2" />);

export const EXPLORER: GraphiQLPlugin = { title: "Explorer", icon: ExplorerIcon, content: Explorer };
