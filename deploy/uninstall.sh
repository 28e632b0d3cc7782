#!/bin/sh
# Takes the service away again. Run as root: void service uninstall | sudo sh
# The data folder, with the record and the tokens, stays: what is in it is yours to delete.
set -eu
root="${DESTDIR:-}"
unit="$root/etc/systemd/system/void.service"
[ -n "$root" ] || [ "$(id -u)" = 0 ] || { echo "run this as root" >&2; exit 1; }
if [ ! -e "$unit" ]; then
  echo "there is no $unit; nothing was changed"
  exit 0
fi
if [ -z "$root" ]; then
  systemctl disable --now void.service
fi
rm -f "$unit"
if [ -z "$root" ]; then
  systemctl daemon-reload
fi
echo "unit /etc/systemd/system/void.service: stopped and removed"
echo "done. These stay: /var/lib/void, /etc/void, the account void, the program."
