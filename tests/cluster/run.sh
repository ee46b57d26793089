#!/bin/sh
# A service of several machines, all of them this one: a primary with two standbys, a store, three nodes, and HAProxy before them.
# Called by `./dev cluster`.
set -eu
cd "$(dirname "$0")/../.."

usage() {
    cat <<'TEXT'
usage: ./dev cluster                 start it, print its addresses, and stop it at Ctrl-C; its data is thrown away
       ./dev cluster --check         the same, but send some queries through HAProxy, and stop
       ./dev cluster --kill node     kill a node of the running cluster; it is started again after ten seconds
       ./dev cluster --kill replica  kill the second standby
       ./dev cluster --kill primary  kill the primary and promote the first standby
       ./dev cluster --kill store    kill the store; it is started again after ten seconds, without what was in it

What is not installed is left out, and named with how to install it. CLUSTER_PORT (7400) is the first of some twenty ports,
CLUSTER_DIR (target/cluster) the folder.
TEXT
}

base=${CLUSTER_PORT:-7400}
folder=${CLUSTER_DIR:-$PWD/target/cluster}
program=${CLUSTER_PROGRAM:-$PWD/target/demo/orderql}
primary=$((base + 1)) standby_1=$((base + 2)) standby_2=$((base + 3))
pooler=$((base + 5)) store=$((base + 6)) statistics=$((base + 9))
nodes="1 2 3"

# --- Programs

report_missing() {
    if command -v apt-get >/dev/null; then how="apt-get install $2"
    elif command -v dnf >/dev/null; then how="dnf install $3"
    elif command -v apk >/dev/null; then how="apk add $3"
    elif command -v brew >/dev/null; then how="brew install $3"
    else how="install $3"; fi
    echo "$1 is not installed and left out: $how" >&2
}

find_postgresql() {
    for bin in "${ORDERQL_PG_BIN:-}" "$(dirname "$(command -v initdb || echo /)")" /usr/lib/postgresql/*/bin /usr/pgsql-*/bin \
        /opt/homebrew/opt/postgresql@*/bin; do
        [ -x "$bin/initdb" ] && echo "$bin"
    done | tail -n 1
}

# PostgreSQL does not run as root.
as_user() {
    if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

# Runs a program in the background. $1: its name, for its log and the file with its process id.
start() {
    name=$1
    shift
    "$@" >>"$folder/$name.log" 2>&1 &
    echo $! >"$folder/$name.pid"
}

running() {
    [ -e "$folder/$1.pid" ] && kill -0 "$(cat "$folder/$1.pid")" 2>/dev/null
}

# Waits until a command succeeds; half a minute at most.
wait_for() {
    what=$1
    shift
    tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { echo "$what does not come up; see $folder" >&2; exit 1; }
        sleep 0.1
    done
}

# --- PostgreSQL

postgres_settings() {
    cat <<TEXT
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = off
max_connections = 200
wal_level = replica
hot_standby = on
wal_keep_size = 256MB
TEXT
}

start_postgres() {
    as_user "$pg/pg_ctl" -s -w -D "$folder/$1" -o "-p $2" -l "$folder/$1/server.log" start
}

start_primary() {
    as_user "$pg/initdb" -D "$folder/primary" -U postgres -A trust --no-sync -E UTF8 >/dev/null
    postgres_settings | as_user tee -a "$folder/primary/postgresql.conf" >/dev/null
    echo 'host replication postgres 127.0.0.1/32 trust' | as_user tee -a "$folder/primary/pg_hba.conf" >/dev/null
    start_postgres primary "$primary"
    as_user "$pg/createdb" -h 127.0.0.1 -p "$primary" -U postgres orders
}

start_standby() {
    as_user "$pg/pg_basebackup" -h 127.0.0.1 -p "$primary" -U postgres -D "$folder/$1" -R -X stream --no-sync -c fast
    start_postgres "$1" "$2"
}

psql_primary() {
    "$pg/psql" -h 127.0.0.1 -p "$primary" -U postgres -d orders -qAt "$@"
}

fill() {
    ORDERQL_DATABASE_URL="host=127.0.0.1 port=$primary user=postgres dbname=orders"
    export ORDERQL_DATABASE_URL
    "$program" migrate >/dev/null
    "$program" sample --orders 2000 >/dev/null
    echo demo | "$program" user add demo --group API >/dev/null
    echo bulk | "$program" user add bulk --group API >/dev/null
    "$program" profile set bulk --bucket-size 1000000000 --restore-rate 1000000 >/dev/null
}

# --- What is before and beside the nodes

store_program() {
    command -v valkey-server || command -v redis-server || true
}

start_store() {
    start store "$(store_program)" --port "$store" --bind 127.0.0.1 --save '' --appendonly no --dir "$folder"
}

start_pooler() {
    cat >"$folder/pgbouncer.ini" <<TEXT
[databases]
orders = host=127.0.0.1 port=$primary
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $pooler
unix_socket_dir =
auth_type = trust
auth_file = $folder/users.txt
pool_mode = session
max_client_conn = 500
TEXT
    if [ "$(id -u)" = 0 ]; then echo 'user = postgres' >>"$folder/pgbouncer.ini"; fi
    echo '"postgres" ""' >"$folder/users.txt"
    start pooler pgbouncer "$folder/pgbouncer.ini"
}

node_port() {
    echo $((base + 10 + $1))
}

start_node() {
    # Whichever of them is the primary.
    hosts="host=127.0.0.1,127.0.0.1,127.0.0.1 port=$primary,$standby_1,$standby_2"
    set -- "$1" serve --listen "127.0.0.1:$(node_port "$1")" --key-folder "$folder/keys" --access-log errors \
        --database-url "$hosts user=postgres dbname=orders target_session_attrs=primary"
    node=$1
    shift
    if [ -n "$(store_program)" ]; then
        set -- "$@" --bucket-url "redis://127.0.0.1:$store/0"
    fi
    set -- "$@" --replica-urls \
        "postgresql://postgres@127.0.0.1:$standby_1/orders,postgresql://postgres@127.0.0.1:$standby_2/orders"
    start "node$node" "$program" "$@"
}

start_balancer() {
    cat >"$folder/haproxy.cfg" <<TEXT
defaults
    mode http
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    retries 3
    option redispatch 1
    # A request that no node has begun to answer is sent to another one. Updates are safe with an idempotency key.
    retry-on conn-failure empty-response 503
listen orders
    bind 127.0.0.1:$base
    option httpchk GET /health/ready
    http-check expect status 200
    default-server check inter 500ms fall 2 rise 1
TEXT
    for node in $nodes; do
        echo "    server node$node 127.0.0.1:$(node_port "$node")" >>"$folder/haproxy.cfg"
    done
    cat >>"$folder/haproxy.cfg" <<TEXT
listen statistics
    bind 127.0.0.1:$statistics
    stats enable
    stats uri /
    stats refresh 2s
TEXT
    start balancer haproxy -db -f "$folder/haproxy.cfg"
}

# --- All of it

stop() {
    trap - EXIT
    for name in balancer node1 node2 node3 pooler store; do
        running "$name" && kill "$(cat "$folder/$name.pid")" 2>/dev/null || true
    done
    for name in standby1 standby2 primary; do
        [ -e "$folder/$name/postmaster.pid" ] && as_user "$pg/pg_ctl" -s -m immediate -D "$folder/$name" stop || true
    done
    wait
    rm -rf "$folder"
}

introduce() {
    cat <<TEXT

  GraphQL     http://127.0.0.1:$balancer_port/rest/s1/graphql   $balancer_note
  Nodes       $(for node in $nodes; do printf '127.0.0.1:%s ' "$(node_port "$node")"; done)
  PostgreSQL  primary 127.0.0.1:$primary, standbys 127.0.0.1:$standby_1 and 127.0.0.1:$standby_2 (user postgres, database orders)
  Store       ${store_note}
  Pooler      ${pooler_note}
  HAProxy     ${balancer_statistics}
  Logs        $folder
  Users       demo (the default limits), bulk (a bucket of 10^9 credits); password = name

Watch it in another shell, and break something:

TOKEN=\$(curl -s -u bulk:bulk -X POST http://127.0.0.1:$balancer_port/auth/token | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
while sleep 0.2; do curl -s -o /dev/null -w '%{http_code} %{time_total}\\n' http://127.0.0.1:$balancer_port/rest/s1/graphql \\
    -H "Authorization: Bearer \$TOKEN" -H 'Content-Type: application/json' -H 'Accept: application/graphql-response+json' \\
    -d '{"query":"{ orders(first: 2) { edges { node { orderId } } } }"}'; done

./dev cluster --kill node
./dev cluster --kill replica
./dev cluster --kill primary
./dev cluster --kill store

TEXT
}

# Sends queries to where clients would, and fails at the first that is not answered.
check() {
    token=$(curl -sf -u bulk:bulk -X POST "http://127.0.0.1:$balancer_port/auth/token" |
        sed 's/.*"access_token":"\([^"]*\).*/\1/')
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        curl -sf "http://127.0.0.1:$balancer_port/rest/s1/graphql" -H "Authorization: Bearer $token" \
            -H 'Content-Type: application/json' -H 'Accept: application/graphql-response+json' \
            -d '{"query":"{ orders(first: 2) { edges { node { orderId } } } }"}' | grep -q '"data"'
    done
    echo "ten queries were answered"
}

run() {
    pg=$(find_postgresql)
    [ -n "$pg" ] || { echo "PostgreSQL is not found: ./dev demo installs it" >&2; exit 1; }
    if running node1; then echo "it is running already in $folder" >&2; exit 1; fi
    rm -rf "$folder"
    mkdir -p "$folder"
    if [ "$(id -u)" = 0 ]; then chown postgres "$folder"; fi
    trap stop EXIT
    trap 'exit 130' INT TERM HUP

    echo "starting PostgreSQL" >&2
    start_primary
    fill
    start_standby standby1 "$standby_1"
    start_standby standby2 "$standby_2"
    store_note="none: each node has buckets of its own"
    if [ -n "$(store_program)" ]; then
        start_store
        store_note="redis://127.0.0.1:$store/0"
    else
        report_missing "Valkey or Redis" "redis-server" "redis"
    fi
    pooler_note="none"
    if command -v pgbouncer >/dev/null; then
        start_pooler
        pooler_note="$(pgbouncer --version | head -n 1) on 127.0.0.1:$pooler, for trying; the nodes do not need it"
    else
        report_missing PgBouncer pgbouncer pgbouncer
    fi
    echo "starting the nodes" >&2
    for node in $nodes; do
        start_node "$node"
        # The first one makes the signing key that all of them use.
        wait_for "node $node" curl -sf "http://127.0.0.1:$(node_port "$node")/health/ready"
    done
    balancer_port=$(node_port 1) balancer_note="(node 1)" balancer_statistics="none: clients use the nodes"
    if command -v haproxy >/dev/null; then
        start_balancer
        balancer_port=$base balancer_note="(HAProxy)" balancer_statistics="http://127.0.0.1:$statistics/"
        wait_for HAProxy curl -sf "http://127.0.0.1:$base/health/ready"
    else
        report_missing HAProxy haproxy haproxy
    fi
    if [ "$1" = check ]; then
        check
        return
    fi
    introduce
    echo "Ctrl-C stops all of it."
    # A process that was killed is started again, as a service manager would.
    while sleep 1; do
        [ ! -e "$folder/again" ] || continue
        for node in $nodes; do running "node$node" || start_node "$node"; done
        if [ -n "$(store_program)" ]; then running store || start_store; fi
    done
}

# $1: what. The loop of the running cluster starts it again.
kill_part() {
    pg=$(find_postgresql)
    running node1 || running node2 || { echo "no cluster is running in $folder" >&2; exit 1; }
    case "$1" in
    node | store)
        name=$1
        [ "$name" = store ] || name=node2
        touch "$folder/again"
        kill -KILL "$(cat "$folder/$name.pid")"
        echo "$name is killed; it is started again in ten seconds"
        sleep 10
        rm -f "$folder/again"
        ;;
    replica)
        as_user "$pg/pg_ctl" -s -m immediate -D "$folder/standby2" stop
        echo "the second standby is killed"
        ;;
    primary)
        as_user "$pg/pg_ctl" -s -m immediate -D "$folder/primary" stop
        echo "the primary is killed; updates get 503"
        as_user "$pg/pg_ctl" -s -w -D "$folder/standby1" promote
        echo "the first standby is the primary now, and order updates go on; the other one does not follow it"
        ;;
    *)
        usage >&2
        exit 2
        ;;
    esac
}

case "${1:-}" in
"") run wait ;;
--check) run check ;;
--kill) kill_part "${2:-}" ;;
--help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
