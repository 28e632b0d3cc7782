#!/bin/sh
# Sets Void up as a service of your own account: void service install --user | sh
set -eu
# The program that printed this, where it still is.
program=@THIS@
[ -x "$program" ] || program="$(command -v void || true)"
program="${VOID_PROGRAM:-$program}"
step="looking around"
trap '[ $? -eq 0 ] || echo "void service: failed while $step" >&2' EXIT
[ "$(id -u)" != 0 ] || [ -n "${DESTDIR:-}" ] || { echo "this is for an ordinary account; as root: void service install | sh" >&2; exit 1; }
[ -x "$program" ] || { echo "the void program is not found: VOID_PROGRAM=/path/to/void" >&2; exit 1; }
case "$program" in /*) ;; *) program="$PWD/$program" ;; esac
case "$program" in *[!A-Za-z0-9/._+-]*) echo "a unit cannot name $program: put the program elsewhere" >&2; exit 1 ;; esac
units="${DESTDIR:-}${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user"
step="writing the unit"
mkdir -p "$units"
sed "s|@PROGRAM@|$program|g" > "$units/void.service" <<'UNIT'
@UNIT@
UNIT
echo "unit $units/void.service: written"
if [ -z "${DESTDIR:-}" ]; then
  step="starting void.service (journalctl --user -u void says why not)"
  systemctl --user daemon-reload
  systemctl --user enable --now void.service
  echo "service void: enabled and started"
fi
echo "done. The set-up link: $program setup-link"
echo "To keep it running while you are signed out: sudo loginctl enable-linger $(id -un)"
