#!/bin/sh
# Sets this machine up as a Void node. Run as root: void node install | sudo sh
# Whatever is made here is noted in /etc/void-node/installed; void node uninstall removes that and nothing else.
set -eu
root="${DESTDIR:-}"
program="${VOID_PROGRAM:-$(command -v void || true)}"
noted="$root/etc/void-node/installed"

note() { grep -qxF "$1" "$noted" || printf '%s\n' "$1" >> "$noted"; }
folder() { # path mode owner
  if [ ! -d "$root$1" ]; then made=1; else made=0; fi
  install -d -m "$2" "$root$1"
  [ -n "$root" ] || chown "$3:$3" "$1"
  [ "$made" = 0 ] || note "folder $1"
}

[ -n "$root" ] || [ "$(id -u)" = 0 ] || { echo "run this as root" >&2; exit 1; }
[ -x "$program" ] || { echo "copy the void binary to /usr/local/bin first" >&2; exit 1; }
first=0
[ -d "$root/etc/void-node" ] || first=1
install -d -m 0755 "$root/etc/void-node"
touch "$noted"
[ "$first" = 0 ] || note "folder /etc/void-node"
if ! id -u voidnode >/dev/null 2>&1; then
  useradd --system --home-dir /var/lib/void-node --no-create-home --shell /usr/sbin/nologin voidnode
  note "user voidnode"
fi
folder /var/lib/void-node 0700 voidnode
if [ ! -e "$root/usr/local/bin/void" ]; then
  install -D -m 0755 "$program" "$root/usr/local/bin/void"
  note "file /usr/local/bin/void"
fi
[ -e "$root/etc/systemd/system/void-node.service" ] || note "file /etc/systemd/system/void-node.service"
install -d "$root/etc/systemd/system"
cat > "$root/etc/systemd/system/void-node.service" <<'UNIT'
@UNIT@
UNIT
[ -n "$root" ] || systemctl daemon-reload
echo "Next, where Void is: void node invite NAME and void provision node NAME. Then here:"
echo "  sudo -u voidnode void node join https://VOID --token …"
echo "  systemctl enable --now void-node"
