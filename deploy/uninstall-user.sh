#!/bin/sh
# Takes the service of your own account away: void service uninstall --user | sh
set -eu
unit="${DESTDIR:-}${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/void.service"
if [ ! -e "$unit" ]; then
  echo "there is no $unit; nothing was changed"
  exit 0
fi
[ -n "${DESTDIR:-}" ] || systemctl --user disable --now void.service
rm -f "$unit"
[ -n "${DESTDIR:-}" ] || systemctl --user daemon-reload
echo "done. $unit is removed; the data folder and the program stay."
