-- What changed since a client last asked. Triggers write, for each change of a row, the id of the transaction and the key of the row of the
-- feed that it belongs to. A reader compares two snapshots: what is visible in the later one and not in the earlier one has changed, however
-- long its transaction took. Keys begin with the writer's own transaction, so writers never wait for each other here.

--- function orderql.sync_relation
-- The table or view of a schema file, whose names without a schema are of `public`. Null if there is none.
CREATE OR REPLACE FUNCTION orderql.sync_relation(name text) RETURNS regclass
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT to_regclass(
        CASE WHEN strpos(name, '.') > 0 THEN format('%I.%I', split_part(name, '.', 1), split_part(name, '.', 2))
        ELSE format('public.%I', name) END
    )
$$;

--- function orderql.sync_column_type
-- The type of a column. Fails if there is none.
CREATE OR REPLACE FUNCTION orderql.sync_column_type(relation text, name text) RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found text;
BEGIN
    SELECT format_type(atttypid, atttypmod) INTO found
    FROM pg_attribute
    WHERE attrelid = orderql.sync_relation(relation) AND attname = name AND NOT attisdropped;
    IF found IS NULL THEN
        RAISE EXCEPTION 'a change feed needs the column % of %, and the database has none', name, relation;
    END IF;
    RETURN found;
END;
$$;

--- function orderql.sync_ids_are_ahead
-- Whether ids are stored that the database has not given out yet: those of another cluster.
CREATE OR REPLACE FUNCTION orderql.sync_ids_are_ahead() RETURNS boolean
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    marks text;
    is_ahead boolean;
BEGIN
    FOR marks IN SELECT known.marks FROM orderql.sync_compaction AS known LOOP
        EXECUTE format(
            'SELECT coalesce((SELECT xid FROM orderql.%I ORDER BY xid DESC LIMIT 1) >= pg_snapshot_xmax(pg_current_snapshot()), false)',
            marks
        ) INTO is_ahead;
        IF is_ahead THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN EXISTS (
        SELECT FROM orderql.sync_tick WHERE pg_snapshot_xmax(snapshot) > pg_snapshot_xmax(pg_current_snapshot())
    );
END;
$$;

--- trigger_function orderql.sync_truncated
-- A table lost all rows at once, and nobody knows which: positions of before mean nothing any more.
CREATE OR REPLACE FUNCTION orderql.sync_truncated() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    UPDATE orderql.sync_state SET counter = counter + 1;
    RETURN NULL;
END;
$$;

--- function orderql.sync_trigger_body
-- The body of the trigger that marks what the rows of a table belong to: the row of the feed itself, or a row in between. Which
-- row of the feed that one belongs to is read when the feed is: a trigger would not see what simultaneous writers change.
CREATE OR REPLACE FUNCTION orderql.sync_trigger_body(feed text, relation text) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT E'BEGIN\n' || string_agg(
        format(
            $body$    IF NEW.%1$I IS NOT NULL THEN
        INSERT INTO orderql.%2$I VALUES (pg_current_xact_id(), %3$sNEW.%1$I) ON CONFLICT DO NOTHING;
    END IF;
    IF OLD.%1$I IS NOT NULL AND OLD.%1$I IS DISTINCT FROM NEW.%1$I THEN
        INSERT INTO orderql.%2$I VALUES (pg_current_xact_id(), %3$sOLD.%1$I) ON CONFLICT DO NOTHING;
    END IF;
$body$,
            part.by_column,
            part.feed || CASE WHEN part.through = '' THEN '_direct' ELSE '_indirect' END,
            CASE WHEN part.through = '' THEN '' ELSE quote_literal(part.through || '.' || part.to_column) || ', ' END
        ), '' ORDER BY part.by_column, part.through, part.to_column
    ) || E'    RETURN NULL;\nEND;\n'
    FROM (
        SELECT DISTINCT part.feed, part.by_column, part.through, part.to_column
        FROM orderql.sync_part AS part
        WHERE part.feed = sync_trigger_body.feed AND part.relation = sync_trigger_body.relation
    ) AS part
$$;

--- function orderql.sync_function_name
-- The function of that trigger: a name of PostgreSQL has 63 bytes.
CREATE OR REPLACE FUNCTION orderql.sync_function_name(feed text, relation text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN octet_length(name) <= 63 THEN name ELSE left(name, 46) || '_' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 16) END
    FROM (SELECT feed || '_of_' || replace(relation, '.', '_') AS name) AS named
$$;

--- function orderql.sync_trigger_name
-- The name of that trigger, or with the suffix `_truncated` of the one that sees TRUNCATE.
CREATE OR REPLACE FUNCTION orderql.sync_trigger_name(feed text, suffix text) RETURNS text
LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN octet_length(name) <= 63 THEN name ELSE left(name, 46) || '_' || left(encode(sha256(convert_to(name, 'UTF8')), 'hex'), 16) END
    FROM (SELECT 'orderql_' || feed || suffix AS name) AS named
$$;

--- function orderql.sync_trigger_faults
-- What is not as the feeds need it: a trigger of a table that is missing, or does not run for replicated rows.
CREATE OR REPLACE FUNCTION orderql.sync_trigger_faults(OUT feed text, OUT relation text, OUT name text, OUT state "char") RETURNS SETOF record
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT expected.feed, expected.relation, expected.name, found.tgenabled
    FROM (
        SELECT DISTINCT part.feed, part.relation, orderql.sync_trigger_name(part.feed, suffix) AS name
        FROM orderql.sync_part AS part
        CROSS JOIN unnest(ARRAY['', '_truncated']) AS suffix
    ) AS expected
    LEFT JOIN pg_trigger AS found
        ON found.tgrelid = orderql.sync_relation(expected.relation)
        AND found.tgname = expected.name
        AND NOT found.tgisinternal
    WHERE found.tgenabled IS DISTINCT FROM 'A'
    ORDER BY expected.feed, expected.relation, expected.name
$$;

--- function orderql.make_feed
-- Makes a feed and its triggers, or what is missing of them, and drops triggers of tables that are no parts any more. Tables that
-- have their triggers are not locked. The definition is
-- {"feed", "relation", "key", "parts": [{"relation", "by", "through", "to", "key"}]}; the last three are of parts that belong to
-- a row in between. Returns the number of tables whose triggers were made.
CREATE OR REPLACE FUNCTION orderql.make_feed(definition jsonb) RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    feed_name CONSTANT text := definition ->> 'feed';
    key_type text;
    branches text;
    part record;
    body text;
    made integer := 0;
BEGIN
    key_type := orderql.sync_column_type(definition ->> 'relation', definition ->> 'key');
    INSERT INTO orderql.sync_feed (feed, relation, key_column)
    VALUES (feed_name, definition ->> 'relation', definition ->> 'key')
    ON CONFLICT (feed) DO UPDATE SET relation = EXCLUDED.relation, key_column = EXCLUDED.key_column
    WHERE (sync_feed.relation, sync_feed.key_column) IS DISTINCT FROM (EXCLUDED.relation, EXCLUDED.key_column);
    EXECUTE format(
        'CREATE TABLE IF NOT EXISTS orderql.%1$I (
             xid XID8 NOT NULL, %2$I %3$s NOT NULL, CONSTRAINT %4$I PRIMARY KEY (xid, %2$I)
         );
         CREATE INDEX IF NOT EXISTS %5$I ON orderql.%1$I (%2$I, xid);
         CREATE TABLE IF NOT EXISTS orderql.%6$I (
             xid XID8 NOT NULL, via TEXT NOT NULL, id TEXT NOT NULL, CONSTRAINT %7$I PRIMARY KEY (xid, via, id)
         );
         CREATE INDEX IF NOT EXISTS %8$I ON orderql.%6$I (id, via, xid)',
        feed_name || '_direct', definition ->> 'key', key_type, 'pk_' || feed_name || '_direct', feed_name || '_of_key',
        feed_name || '_indirect', 'pk_' || feed_name || '_indirect', feed_name || '_of_id'
    );
    INSERT INTO orderql.sync_compaction (marks, feed, key_columns)
    VALUES (feed_name || '_direct', feed_name, ARRAY[definition ->> 'key']), (feed_name || '_indirect', feed_name, ARRAY['via', 'id'])
    ON CONFLICT DO NOTHING;
    WITH declared AS (
        SELECT feed_name AS feed, listed ->> 'relation' AS relation, listed ->> 'by' AS by_column,
               coalesce(listed ->> 'through', '') AS through, coalesce(listed ->> 'to', '') AS to_column,
               coalesce(listed ->> 'key', '') AS key_column
        FROM jsonb_array_elements(definition -> 'parts') AS listed
    ), gone AS (
        DELETE FROM orderql.sync_part AS kept
        WHERE kept.feed = feed_name AND NOT EXISTS (SELECT FROM declared WHERE declared.* IS NOT DISTINCT FROM kept.*)
    )
    INSERT INTO orderql.sync_part SELECT * FROM declared ON CONFLICT DO NOTHING;
    SELECT string_agg(
        format(
            'UNION ALL
             SELECT marked.xid, part.%1$I::%2$s
             FROM orderql.%3$I AS marked
             JOIN %4$s AS part ON part.%5$I = marked.id::%6$s
             WHERE marked.via = %7$L AND part.%1$I IS NOT NULL',
            joined.key_column, key_type, feed_name || '_indirect', orderql.sync_relation(joined.through), joined.to_column,
            orderql.sync_column_type(joined.through, joined.to_column), joined.through || '.' || joined.to_column
        ), E'\n' ORDER BY joined.through, joined.to_column, joined.key_column
    ) INTO branches
    FROM (SELECT DISTINCT through, to_column, key_column FROM orderql.sync_part WHERE feed = feed_name AND through <> '') AS joined;
    EXECUTE format(
        'CREATE OR REPLACE VIEW orderql.%1$I AS SELECT xid, %2$I FROM orderql.%3$I %4$s',
        feed_name, definition ->> 'key', feed_name || '_direct', branches
    );
    FOR part IN
        SELECT tgrelid::regclass AS oid, tgname
        FROM pg_trigger
        WHERE tgname IN (orderql.sync_trigger_name(feed_name, ''), orderql.sync_trigger_name(feed_name, '_truncated')) AND NOT tgisinternal AND tgparentid = 0
          AND tgrelid NOT IN (SELECT orderql.sync_relation(kept.relation) FROM orderql.sync_part AS kept WHERE kept.feed = feed_name)
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s', part.tgname, part.oid);
    END LOOP;
    FOR part IN
        SELECT kept.relation, orderql.sync_relation(kept.relation) AS oid, orderql.sync_function_name(feed_name, kept.relation) AS function
        FROM orderql.sync_part AS kept
        WHERE kept.feed = feed_name
        GROUP BY kept.relation
        ORDER BY kept.relation
    LOOP
        IF (SELECT relkind IN ('r', 'p') FROM pg_class WHERE oid = part.oid) IS NOT TRUE THEN
            RAISE EXCEPTION 'a change feed needs the table %, and the database has none of that name', part.relation;
        END IF;
        body := orderql.sync_trigger_body(feed_name, part.relation);
        IF body IS DISTINCT FROM (SELECT prosrc FROM pg_proc WHERE pronamespace = 'orderql'::regnamespace AND proname = part.function) THEN
            EXECUTE format(
                'CREATE OR REPLACE FUNCTION orderql.%I() RETURNS trigger
                 LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS %L',
                part.function, body
            );
            EXECUTE format('REVOKE EXECUTE ON FUNCTION orderql.%I FROM PUBLIC', part.function);
        END IF;
        IF EXISTS (
            SELECT FROM orderql.sync_trigger_faults() AS fault WHERE fault.feed = feed_name AND fault.relation = part.relation
        ) THEN
            EXECUTE format(
                'CREATE OR REPLACE TRIGGER %2$I AFTER INSERT OR UPDATE OR DELETE ON %1$s
                     FOR EACH ROW EXECUTE FUNCTION orderql.%3$I();
                 CREATE OR REPLACE TRIGGER %4$I AFTER TRUNCATE ON %1$s
                     FOR EACH STATEMENT EXECUTE FUNCTION orderql.sync_truncated();
                 ALTER TABLE %1$s ENABLE ALWAYS TRIGGER %2$I, ENABLE ALWAYS TRIGGER %4$I',
                part.oid, orderql.sync_trigger_name(feed_name, ''), part.function, orderql.sync_trigger_name(feed_name, '_truncated')
            );
            made := made + 1;
        END IF;
    END LOOP;
    RETURN made;
END;
$$;

--- function orderql.sync_write_tick
-- Writes a tick, unless another server just did or does. Any role may ask for what is due.
CREATE OR REPLACE FUNCTION orderql.sync_write_tick() RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    here record;
BEGIN
    IF NOT pg_try_advisory_xact_lock(hashtext('orderql.sync_tick')) THEN
        RETURN false;
    END IF;
    SELECT * INTO here FROM orderql.sync_epoch();
    IF EXISTS (
        SELECT
        FROM orderql.sync_tick AS tick
        WHERE tick.epoch = here.epoch AND tick.timeline = here.timeline
          AND tick.at BETWEEN clock_timestamp() - interval '9 seconds' AND clock_timestamp()
    ) THEN
        RETURN false;
    END IF;
    INSERT INTO orderql.sync_tick (at, epoch, system_identifier, timeline, lsn, snapshot)
    SELECT clock_timestamp(), here.epoch, control.system_identifier, here.timeline, pg_current_wal_insert_lsn(), pg_current_snapshot()
    FROM pg_control_system() AS control;
    RETURN true;
END;
$$;

--- function orderql.sync_compact
-- Removes marks that no reader needs, a batch at a time: a mark is superseded if its key has a later one, and a tick lies between
-- them. Whoever has seen the later one has then seen the earlier one too. Ticks of the last ten minutes do not count, so that
-- the pages of one difference rarely meet it. The last mark of each key stays. Returns how many went, and whether none is left.
CREATE OR REPLACE FUNCTION orderql.sync_compact(marks text, batch integer, margin interval DEFAULT '10 minutes', OUT removed bigint, OUT is_done boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
    place orderql.sync_compaction;
    since pg_snapshot;
    until pg_snapshot;
    current_epoch bigint;
    columns text;
    read bigint;
BEGIN
    removed := 0;
    is_done := true;
    SELECT * INTO place FROM orderql.sync_compaction AS known WHERE known.marks = sync_compact.marks FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    current_epoch := (SELECT epoch FROM orderql.sync_epoch());
    SELECT snapshot INTO since FROM orderql.sync_tick WHERE tick_id = place.since_tick AND epoch = current_epoch;
    IF NOT FOUND THEN
        SELECT tick_id, snapshot INTO place.since_tick, since
        FROM orderql.sync_tick WHERE epoch = current_epoch ORDER BY tick_id LIMIT 1;
        place.until_tick := NULL;
    END IF;
    IF place.until_tick IS NULL THEN
        SELECT tick_id INTO place.until_tick
        FROM orderql.sync_tick
        WHERE epoch = current_epoch AND tick_id > place.since_tick AND at < clock_timestamp() - margin
        ORDER BY tick_id LIMIT 1;
        place.xid := '0';
        place.key := '{}';
    END IF;
    SELECT snapshot INTO until FROM orderql.sync_tick WHERE tick_id = place.until_tick;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    columns := (SELECT string_agg(format('%I', name), ', ' ORDER BY position) FROM unnest(place.key_columns) WITH ORDINALITY AS listed (name, position));
    EXECUTE format(
        'WITH batch AS MATERIALIZED (
             SELECT xid, %2$s FROM orderql.%1$I
             WHERE xid = ANY ($1) AND pg_visible_in_snapshot(xid, $3) AND xid >= $4 AND (xid > $4 OR (%2$s) > (%3$s))
             UNION ALL
             SELECT xid, %2$s FROM orderql.%1$I
             WHERE xid >= $2 AND pg_visible_in_snapshot(xid, $3) AND xid >= $4 AND (xid > $4 OR (%2$s) > (%3$s))
             ORDER BY xid, %2$s
             LIMIT $6
         ), removed AS (
             DELETE FROM orderql.%1$I AS earlier
             USING batch
             WHERE %4$s AND earlier.xid < batch.xid AND pg_visible_in_snapshot(earlier.xid, $7)
             RETURNING 1
         ), last AS (
             SELECT xid, ARRAY[%5$s] AS key FROM batch ORDER BY xid DESC, %6$s LIMIT 1
         )
         SELECT (SELECT count(*) FROM removed), (SELECT count(*) FROM batch), (SELECT xid FROM last), (SELECT key FROM last)',
        place.marks, columns,
        (SELECT string_agg(format('$5[%s]::%s', position, orderql.sync_column_type('orderql.' || place.marks, name)), ', ' ORDER BY position)
         FROM unnest(place.key_columns) WITH ORDINALITY AS listed (name, position)),
        (SELECT string_agg(format('earlier.%1$I = batch.%1$I', name), ' AND ') FROM unnest(place.key_columns) AS name),
        (SELECT string_agg(format('%I::text', name), ', ' ORDER BY position) FROM unnest(place.key_columns) WITH ORDINALITY AS listed (name, position)),
        (SELECT string_agg(format('%I DESC', name), ', ' ORDER BY position) FROM unnest(place.key_columns) WITH ORDINALITY AS listed (name, position))
    )
    INTO removed, read, place.xid, place.key
    USING ARRAY(SELECT pg_snapshot_xip(since)), pg_snapshot_xmax(since), until, place.xid, place.key, batch, since;
    is_done := false;
    IF read < batch THEN
        place.since_tick := place.until_tick;
        place.until_tick := NULL;
        is_done := NOT EXISTS (
            SELECT FROM orderql.sync_tick
            WHERE epoch = current_epoch AND tick_id > place.since_tick AND at < clock_timestamp() - margin
        );
    END IF;
    UPDATE orderql.sync_compaction AS known
    SET since_tick = place.since_tick, until_tick = place.until_tick, xid = coalesce(place.xid, '0'), key = coalesce(place.key, '{}')
    WHERE known.marks = place.marks;
END;
$$;

--- function orderql.sync_thin_ticks
-- Removes ticks: of the last hour all stay, of the last day one a minute, of the time before one an hour. The newest of each
-- timeline stays, which decides what a promotion has lost. Returns how many went.
CREATE OR REPLACE FUNCTION orderql.sync_thin_ticks() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH current AS (
        SELECT epoch FROM orderql.sync_epoch()
    ), listed AS (
        SELECT
            tick_id, tick.epoch, at,
            row_number() OVER (
                PARTITION BY tick.epoch, timeline,
                    CASE WHEN at > now() - interval '1 day' THEN date_trunc('minute', at) ELSE date_trunc('hour', at) END
                ORDER BY tick_id DESC
            ) AS place_in_time,
            row_number() OVER (PARTITION BY tick.epoch, timeline ORDER BY tick_id DESC) AS place_in_timeline
        FROM orderql.sync_tick AS tick
        WHERE at < now() - interval '1 hour'
    ), removed AS (
        DELETE FROM orderql.sync_tick AS tick
        USING listed, current
        WHERE tick.tick_id = listed.tick_id
          AND (listed.place_in_time > 1 AND listed.place_in_timeline > 1
               OR listed.epoch <> current.epoch AND listed.at < now() - interval '30 days')
          AND NOT EXISTS (SELECT FROM orderql.sync_compaction WHERE tick.tick_id IN (since_tick, until_tick))
        RETURNING 1
    )
    SELECT count(*) FROM removed
$$;

--- function orderql.sync_reset
-- Forgets all marks and ticks, and begins a new epoch: positions of before mean nothing any more. For the owner of the tables.
CREATE OR REPLACE FUNCTION orderql.sync_reset() RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    marks text;
BEGIN
    FOR marks IN SELECT known.marks FROM orderql.sync_compaction AS known LOOP
        EXECUTE format('TRUNCATE orderql.%I', marks);
    END LOOP;
    TRUNCATE orderql.sync_tick;
    UPDATE orderql.sync_compaction SET since_tick = NULL, until_tick = NULL, xid = '0', key = '{}';
    UPDATE orderql.sync_state
    SET counter = counter + 1, home = orderql.sync_here(), origin = orderql.sync_here(), timeline_offset = 0;
END;
$$;

--- function orderql.sync_adopt
-- Says that the ids here go on from those of before, as they do after pg_upgrade. What came after the newest tick of
-- before is read once more. Returns whether there is such a tick; nothing changes without, or if the home is the same. For the
-- owner of the tables.
CREATE OR REPLACE FUNCTION orderql.sync_adopt() RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    newest integer;
    before orderql.sync_state;
BEGIN
    SELECT * INTO before FROM orderql.sync_state;
    IF before.home = orderql.sync_here() THEN
        RETURN true;
    END IF;
    UPDATE orderql.sync_state SET home = orderql.sync_here(), timeline_offset = 0;
    SELECT tick.timeline INTO newest
    FROM orderql.sync_tick AS tick
    WHERE tick.epoch = (SELECT epoch FROM orderql.sync_epoch())
    ORDER BY tick.tick_id DESC LIMIT 1;
    UPDATE orderql.sync_state
    SET home = CASE WHEN newest IS NULL THEN before.home ELSE home END,
        timeline_offset = CASE WHEN newest IS NULL THEN before.timeline_offset
                               ELSE newest + 1 - (SELECT timeline FROM orderql.sync_epoch()) END;
    RETURN newest IS NOT NULL;
END;
$$;

--- function orderql.sync_here
CREATE OR REPLACE FUNCTION orderql.sync_here() RETURNS text
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (
        SELECT format('%s %s %s', control.system_identifier, pg_database.oid, 'orderql.sync_state'::regclass::oid)
        FROM pg_control_system() AS control
        CROSS JOIN pg_database
        WHERE datname = current_database()
    );
END;
$$;

--- function orderql.sync_epoch
-- As before: the epoch of the ids, and the timeline, which changes when a standby is promoted.
CREATE OR REPLACE FUNCTION orderql.sync_epoch(OUT epoch bigint, OUT timeline integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    here CONSTANT text := orderql.sync_here();
    state orderql.sync_state;
    name text;
BEGIN
    SELECT * INTO state FROM orderql.sync_state;
    name := format('%s %s', CASE WHEN state.home = here THEN state.origin ELSE here END, state.counter);
    epoch := ('x' || encode(substr(sha256(convert_to(name, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint;
    IF pg_is_in_recovery() THEN
        timeline := (SELECT timeline_id FROM pg_control_checkpoint());
    ELSE
        timeline := ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::integer;
    END IF;
    timeline := timeline + CASE WHEN state.home = here THEN state.timeline_offset ELSE 0 END;
    IF pg_is_in_recovery() THEN
        timeline := greatest(timeline, (SELECT max(tick.timeline) FROM orderql.sync_tick AS tick WHERE tick.epoch = sync_epoch.epoch));
    END IF;
END;
$$;

--- rows orderql.sync_state
INSERT INTO orderql.sync_state (home, origin) SELECT here, here FROM orderql.sync_here() AS here ON CONFLICT DO NOTHING;

--- rights of readers of change feeds
GRANT SELECT ON orderql.sync_tick, orderql.sync_feed, orderql.sync_part, orderql.sync_compaction TO PUBLIC;

--- rights on the functions of change feeds
-- Nobody else may put them on a table of their own.
DO $$
DECLARE
    feeding regprocedure;
BEGIN
    FOR feeding IN SELECT oid FROM pg_proc WHERE pronamespace = 'orderql'::regnamespace AND prorettype = 'trigger'::regtype LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', feeding);
    END LOOP;
END;
$$;

--- comments on the tables of change feeds
COMMENT ON COLUMN orderql.sync_state.home IS 'where the ids in the feeds are from';
COMMENT ON COLUMN orderql.sync_state.origin IS 'what the epoch is named after: the home of before an upgrade, if there was one';
COMMENT ON COLUMN orderql.sync_state.timeline_offset IS 'what the timelines of before an upgrade add, since they begin at 1 again';
COMMENT ON COLUMN orderql.sync_state.counter IS 'TRUNCATE and orderql sync reset raise it';
COMMENT ON COLUMN orderql.sync_tick.timeline IS 'as orderql.sync_epoch() has it';
COMMENT ON COLUMN orderql.sync_tick.lsn IS 'everything visible in the snapshot is before it in the write-ahead log';
