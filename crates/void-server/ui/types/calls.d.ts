// Which route of the document a call of `lib/api.js` is: the page writes `/api/proposals/${id}/card?wait=0`, the document
// `GET /api/proposals/{id}/card`. A path that is no route's is an error.

import { Events, Home, Routes } from "./api.js";

/** `/api/a/{id}` as the type of what it stands for. */
type Filled<Path> = Path extends `${infer Before}{${string}}${infer After}` ? `${Before}${string}${Filled<After>}` : Path;

type WithoutQuery<Path> = Path extends `${infer Before}?${string}` ? Before : Path;

type Same<One, Other, Then> = [One] extends [Other] ? ([Other] extends [One] ? Then : never) : never;

/** Every path of a method, with and without a query. */
export type PathOf<Method extends string> = {
  [Route in keyof Routes]: Route extends `${Method} ${infer Path}` ? Filled<Path> | `${Filled<Path>}?${string}` : never;
}[keyof Routes];

/** The one route that a path is. `/api/a/${string}` would take `/api/a/${string}/b` too, so both have to fit. */
type RouteOf<Method extends string, Path> = Path extends unknown ? {
  [Route in keyof Routes]: Route extends `${Method} ${infer Own}` ? Same<Filled<Own>, WithoutQuery<Path>, Route> : never;
}[keyof Routes] : never;

/** What is answered. */
export type Answer<Method extends string, Path> = [RouteOf<Method, Path>] extends [never]
  ? unknown
  : Routes[RouteOf<Method, Path>]["response"];

/** The body as arguments: one, one that may be left out, or none. */
export type Sent<Method extends string, Path> = [RouteOf<Method, Path>] extends [never]
  ? [never]
  : Routes[RouteOf<Method, Path>] extends { request: infer Body }
    ? {} extends Body ? [body?: Body] : [body: Body]
    : [];

/** What the page hears: the server's events, and two of its own for when it has to ask. */
export type PageEvent =
  | { [Name in keyof Events]: { name: Name; data: Events[Name] } }[keyof Events]
  | { name: "asked"; data: Home }
  | { name: "proposal.asked"; data: { id: string } };

export type ProposalEvent = Extract<PageEvent, { name: `proposal.${string}` }>;

export type TurnEvent = Extract<PageEvent, { name: `turn.${string}` }>;
