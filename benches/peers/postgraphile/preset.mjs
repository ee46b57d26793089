// PostGraphile's configuration: the database, and the part of it that is served.

import { makePgService } from "postgraphile/adaptors/pg";
import { PostGraphileAmberPreset } from "postgraphile/presets/amber";

import { connection } from "./connection.mjs";
import { DatePlugin, FieldsPlugin, NewestPlugin, OrdersBeforePlugin, RelationsPlugin } from "./schema.mjs";

// orderql's own settings, of src/database/connection/session.rs. They help PostGraphile's statements just as much.
const SETTINGS =
  "-c plan_cache_mode=force_generic_plan -c enable_mergejoin=off -c enable_hashjoin=off" +
  " -c enable_incremental_sort=off -c random_page_cost=2 -c jit=off" +
  " -c default_transaction_read_only=on -c TimeZone=UTC -c search_path=public";

// With two workers, one connection more than orderql has on two cores.
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
