#!/bin/sh
# Removes what install-node.sh made on this machine, by its own notes. Run as root: void node uninstall | sudo sh
set -eu
root="${DESTDIR:-}"
noted="$root/etc/void-node/installed"

[ -n "$root" ] || [ "$(id -u)" = 0 ] || { echo "run this as root" >&2; exit 1; }
[ -f "$noted" ] || { echo "nothing is noted as installed here" >&2; exit 1; }
[ -n "$root" ] || systemctl disable --now void-node 2>/dev/null || true
notes="$(cat "$noted")"
rm -f "$noted"
printf '%s\n' "$notes" | while read -r kind what; do
  case "$kind $what" in
    "file /usr/local/bin/void" | "file /etc/systemd/system/void-node.service") rm -f "$root$what" ;;
    "folder /etc/void-node" | "folder /var/lib/void-node") rm -rf "$root$what" ;;
    "user voidnode") userdel voidnode ;;
    *) echo "not understood, left alone: $kind $what" >&2 ;;
  esac
done
[ -n "$root" ] || systemctl daemon-reload
echo "Removed. Where Void is: void node revoke NAME"
