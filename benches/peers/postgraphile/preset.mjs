// What PostGraphile is told of the database, and what it serves of it.

import { makePgService } from "postgraphile/adaptors/pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

import { connection } from "./connection.mjs";
import { DatePlugin, FieldsPlugin, NewestPlugin, OrdersBeforePlugin, RelationsPlugin } from "./schema.mjs";

// As orderql sets its connections; see src/database/pool.rs there. Merge and hash joins off and generic plans help the
// statements that PostGraphile writes just as much.
const SETTINGS =
  "-c plan_cache_mode=force_generic_plan -c enable_mergejoin=off -c enable_hashjoin=off" +
  " -c enable_incremental_sort=off -c random_page_cost=2 -c jit=off" +
  " -c default_transaction_read_only=on -c TimeZone=UTC -c search_path=public";

// Three connections for each of two workers are as many as orderql has on two cores, and one more.
export const preset = {
  extends: [PostGraphileAmberPreset],
  plugins: [RelationsPlugin, FieldsPlugin, NewestPlugin, OrdersBeforePlugin, DatePlugin],
  disablePlugins: ["NodePlugin", "PgJWTPlugin"],
  pgServices: [
    makePgService({
      poolConfig: { ...connection(process.env.DATABASE_URL), options: SETTINGS, max: 3 },
      schemas: ["public", "orderql"],
      pubsub: false,
    }),
  ],
  grafserv: { graphqlPath: "/graphql", graphiql: false, watch: false, websockets: false },
  grafast: { explain: false },
};
