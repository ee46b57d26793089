// The requests to the server. All go to the origin of the page.

import { bucket, type Throttle } from "./bucket";
import { endSession, session, userOf } from "./session";
import { createStore } from "./store";

export interface Operation {
  query: string;
  variables?: Record<string, unknown> | undefined;
  operationName?: string | null | undefined;
}

export interface Location {
  line: number;
  column: number;
}

export interface GraphqlError {
  message: string;
  locations?: Location[];
  path?: (string | number)[];
  extensions?: Record<string, unknown>;
}

/** What a selected field adds to the price. */
export interface FieldCost {
  path: string[];
  definedCost: number;
  times: number;
  searchPenalty?: number;
  requestedTotalCost: number;
  requestedSubtreeCost: number;
}

/** `extensions.cost` of a response; a report on the price alone has all of it. */
export interface Cost {
  requestedQueryCost: number;
  actualQueryCost?: number;
  maxCost?: number;
  depth?: number;
  maxDepth?: number;
  branches?: number;
  gates?: Record<string, { passed: boolean; retryAfterMs?: number | null }>;
  fields?: FieldCost[];
  throttleStatus: Throttle;
}

/** A branch of a plan's statement, a connection or a lookup. A root says how it finds its rows. */
export interface Branch {
  field: string;
  /** The index of the branch for each of whose rows this one is read. */
  parent: number | null;
  access?: { index: string[]; lookups: { index: string[]; rows: number }[]; window: number | null };
  rowsExamined?: number;
  /** The pages for a page of rows: the fewest if one row of so many of the window matches, or always. */
  expectedPages?: { fewest: number; oneRowOf: number | null; checked: string[] };
}

/** How an operation would be run. Without a statement it needs no database. */
export interface Plan {
  statement: { sql: string; parameters: unknown[] } | null;
  branches: Branch[];
}

/** How an operation was run. What has no number did not finish. */
export interface ExecutedPlan {
  milliseconds: number | null;
  branches: { field: string; rows: number | null }[];
}

export interface Response<P = ExecutedPlan> {
  data?: unknown;
  errors?: GraphqlError[];
  extensions?: { cost?: Cost; plan?: P; search?: EndedSearch[]; warnings?: { message: string }[] };
}

/** A list that may have fewer rows than match, because its search ended before they were found. */
export interface EndedSearch {
  path: (string | number)[];
  rowsExamined: number;
}

const url = (path: string): URL => new URL(path, location.href);
const GRAPHQL = location.pathname;

/** The request was not sent, or not accepted, because nobody is signed in. */
export class SignedOut extends Error {
  constructor() {
    super("Sign in first");
  }
}

/** No response came, or one that the server has not written. */
export class Unreachable extends Error {}

/** Why no request is answered; null while they are. */
export const unreachable = createStore<string | null>(null);

function fail(reason: string): never {
  unreachable.set(reason);
  throw new Unreachable(reason);
}

// Without credentials the browser never asks for a password of its own.
async function fetchHere(input: string | URL, init: RequestInit = {}): Promise<globalThis.Response> {
  let answer;
  try {
    answer = await fetch(input, { ...init, credentials: "omit", redirect: "error" });
  } catch (failure) {
    if (init.signal?.aborted) throw failure;
    fail("The server cannot be reached.");
  }
  // What stands before the server answers in its place.
  const isGateway = [502, 503, 504].includes(answer.status) && !/json/.test(answer.headers.get("Content-Type") ?? "");
  if (isGateway) fail(`The server cannot be reached: its proxy answered with status ${answer.status}.`);
  unreachable.set(null);
  return answer;
}

/** What went wrong, for people. */
export function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}

async function post<P>(
  operation: Operation,
  headers: Record<string, string>,
  signal?: AbortSignal,
): Promise<Response<P>> {
  const current = session.get();
  if (!current) throw new SignedOut();
  const answer = await fetchHere(GRAPHQL, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json",
      Authorization: `Bearer ${current.token}`,
      ...headers,
    },
    body: JSON.stringify(operation),
    signal: signal ?? null,
  });
  const response = (await answer.json()) as Response<P>;
  if (answer.status === 401 && session.get() === current) {
    endSession();
    throw new SignedOut();
  }
  const status = response.extensions?.cost?.throttleStatus;
  if (status) bucket.set({ ...status, at: Date.now() });
  return response;
}

/** As many seconds a query may wait for its credits, where it is to wait. */
export const WAIT = 30;

/** The header with which a query waits for its credits. */
export const WAITING = { Prefer: `wait=${WAIT}` };

/** Runs an operation, with further headers. */
export function run(operation: Operation, headers: Record<string, string> = {}): Promise<Response> {
  return post(operation, maySeePlans.get() ? { "X-GraphQL-Include-Plan": "true", ...headers } : headers);
}

/** What an operation costs. Nothing is run or debited. */
export function price(operation: Operation, signal?: AbortSignal): Promise<Response> {
  return post(operation, { "GraphQL-Cost": "validate" }, signal);
}

/** Whether the server has shown a plan to whoever is signed in. */
export const maySeePlans = createStore(false);

/** What an operation costs, and how it would be run. Nothing is run or debited. */
export async function plan(operation: Operation, signal: AbortSignal): Promise<Response<Plan>> {
  const response = await post<Plan>(operation, { "GraphQL-Cost": "plan" }, signal);
  if (response.extensions?.plan) maySeePlans.set(true);
  return response;
}

/** The schema's text: what whoever is signed in sees of it, or without a token what everybody does. */
export async function schemaText(token?: string): Promise<string> {
  const read = (init?: RequestInit) => fetchHere(url("graphql/sdl"), init);
  let answer = await read(token ? { headers: { Authorization: `Bearer ${token}` } } : {});
  if (token && [401, 403].includes(answer.status)) answer = await read();
  if (!answer.ok) throw new Error(`the schema cannot be read: ${answer.status}`);
  return answer.text();
}

/** Where tokens are issued. */
export const tokenUrl = (): string => url("auth/token").href;

async function firstError(answer: globalThis.Response): Promise<string> {
  const body = (await answer.json()) as Response;
  return body.errors?.[0]?.message ?? `status ${answer.status}`;
}

/** Signs in with a password. Fails with the server's message. */
export async function signIn(user: string, password: string): Promise<void> {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  const answer = await fetchHere(tokenUrl(), {
    method: "POST",
    headers: { Authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` },
  });
  if (!answer.ok) throw new Error(await firstError(answer));
  const { access_token: token } = (await answer.json()) as { access_token: string };
  session.set({ user, token });
}

/** Signs in with a token. Fails with the server's message if it is not accepted. */
export async function signInWithToken(token: string): Promise<void> {
  const answer = await fetchHere(GRAPHQL, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}`, "GraphQL-Cost": "validate" },
    body: JSON.stringify({ query: "{ __typename }" }),
  });
  if (!answer.ok) throw new Error(await firstError(answer));
  session.set({ user: userOf(token), token });
}
