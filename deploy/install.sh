#!/bin/sh
# Sets Void up as a service of this machine. Run as root: void service install | sudo sh
# It makes an account, a data folder and a unit; void service uninstall | sudo sh takes the unit away again.
set -eu
root="${DESTDIR:-}"
# The program that printed this, where it still is.
program=@THIS@
[ -x "$program" ] || program="$(command -v void || true)"
program="${VOID_PROGRAM:-$program}"
step="looking around"
trap '[ $? -eq 0 ] || echo "void service: failed while $step" >&2' EXIT

[ -n "$root" ] || [ "$(id -u)" = 0 ] || { echo "run this as root" >&2; exit 1; }
[ -x "$program" ] || { echo "the void program is not found: VOID_PROGRAM=/path/to/void" >&2; exit 1; }
[ -n "$root" ] || command -v systemctl >/dev/null || { echo "this machine has no systemd" >&2; exit 1; }

step="making the account void"
if [ -n "$root" ] || id -u void >/dev/null 2>&1; then
  echo "account void: there already"
else
  useradd --system --home-dir /var/lib/void --no-create-home --shell /usr/sbin/nologin void
  echo "account void: made"
fi

step="making /var/lib/void and /etc/void"
install -d -m 0700 "$root/var/lib/void"
install -d -m 0750 "$root/etc/void"
if [ -z "$root" ]; then
  chown void:void /var/lib/void
  chown root:void /etc/void
fi
echo "data folder /var/lib/void: only for the account void"

step="copying the program"
if [ "$program" = "/usr/bin/void" ]; then
  target=/usr/bin/void
else
  target=/usr/local/bin/void
  install -D -m 0755 "$program" "$root$target.new"
  mv "$root$target.new" "$root$target"
  echo "program $target: copied from $program"
fi

step="writing the unit"
install -d "$root/etc/systemd/system"
sed "s|=/usr/bin/void |=$target |" > "$root/etc/systemd/system/void.service" <<'UNIT'
@UNIT@
UNIT
echo "unit /etc/systemd/system/void.service: written"

if [ -z "$root" ]; then
  step="starting void.service (journalctl -u void says why not)"
  systemctl daemon-reload
  systemctl enable --now void.service
  echo "service void: enabled and started"
fi
echo "done. The set-up link: sudo -u void $target --data /var/lib/void setup-link"
echo "Your catalogue goes to /var/lib/void/actions.json, and the page says what to put into it; settings to /var/lib/void/void.toml or /etc/void/void.env."
