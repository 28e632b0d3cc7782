"""Drives the rehearsal server with proxmoxer, as a script against a real cluster would be written.

Arguments: port, the authority's certificate, the tokens' secret.
"""

import sys
import time

import requests
from proxmoxer import ProxmoxAPI, ResourceException
from proxmoxer.core import AuthenticationError
from proxmoxer.tools import Tasks

PORT, AUTHORITY, SECRET = int(sys.argv[1]), sys.argv[2], sys.argv[3]
UNKNOWN = "property is not defined in schema and the schema does not allow additional properties"


def connect(token, secret=SECRET, verify=AUTHORITY):
    return ProxmoxAPI(
        "127.0.0.1", port=PORT, user="void@pve", token_name=token, token_value=secret, verify_ssl=verify
    )


def refused(call, code, message, content, errors=None):
    try:
        call()
    except ResourceException as error:
        seen = (error.status_code, error.status_message, error.content, error.errors)
        assert seen == (code, message, content, errors), seen
    else:
        raise AssertionError(f"expected {code} {content}")


def finish(upid):
    ended = Tasks.blocking_status(pve, upid, timeout=10, polling_interval=0.02)
    assert ended["status"] == "stopped" and ended["upid"] == upid, ended
    decoded = Tasks.decode_upid(upid)
    for key in ("node", "pid", "pstart", "starttime", "type", "id", "user"):
        assert decoded[key] == ended[key], (key, decoded, ended)
    return ended["exitstatus"]


def power(kind, vmid, operation, node="z", **params):
    return getattr(pve.nodes(node), kind)(vmid).status(operation).post(**params)


pve = connect("actions")
auditor = connect("auditor")
nobody = connect("nobody")


def reading():
    assert pve.version.get()["release"] == "8.4"
    assert connect("actions", verify=False).version.get()["version"] == "8.4.1"
    assert [node["node"] for node in pve.nodes.get()] == ["z", "y", "w"]
    assert "uptime" not in pve.nodes.get()[0] and "uptime" in auditor.nodes.get()[0]
    assert auditor.nodes("z").status.get()["memory"]["total"] > 0
    assert {row["vmid"] for row in pve.nodes("z").lxc.get()} == {107, 108, 109}
    assert {row["vmid"] for row in pve.nodes("z").qemu.get()} == {104, 105, 106}
    assert pve.nodes("z").lxc(107).status.current.get()["status"] == "running"
    assert pve.nodes("z").qemu(104).status.current.get()["qmpstatus"] == "running"
    guests = pve.cluster.resources.get(type="vm")
    assert {row["vmid"]: row["status"] for row in guests}[301] == "unknown"
    assert {row["type"] for row in pve.cluster.resources.get()} == {"lxc", "qemu", "node"}
    assert pve.access.permissions.get() == {"/vms": {"VM.Audit": 1, "VM.PowerMgmt": 1}}
    assert pve.access.permissions.get(path="/vms/107") == {"/vms/107": {"VM.Audit": 1, "VM.PowerMgmt": 1}}


def rights():
    assert nobody.nodes("z").lxc.get() == [] and nobody.nodes("z").qemu.get() == []
    assert nobody.cluster.resources.get(type="vm") == []
    assert nobody.access.permissions.get() == {}
    stop, current = "Permission check failed (/vms/107, VM.PowerMgmt)", "Permission check failed (/vms/107, VM.Audit)"
    refused(lambda: auditor.nodes("z").lxc(107).status.stop.post(), 403, "Forbidden", stop)
    refused(lambda: nobody.nodes("z").lxc(107).status.current.get(), 403, "Forbidden", current)
    refused(lambda: pve.nodes("z").status.get(), 403, "Forbidden", "Permission check failed (/nodes/z, Sys.Audit)")
    # A refused login has no body, which proxmoxer passes on as it is.
    empty = {"errors": b""}
    wrong = connect("actions", secret="wrong")
    refused(wrong.version.get, 401, "Unauthorized", "invalid token value!", empty)
    unknown = connect("other")
    refused(unknown.version.get, 401, "Unauthorized", "no such token 'other' for user 'void@pve'", empty)
    try:
        ProxmoxAPI("127.0.0.1", port=PORT, user="root@pam", password="x", verify_ssl=AUTHORITY)
        raise AssertionError("a password logged in")
    except AuthenticationError:
        pass


def errors():
    refused(lambda: pve.nodes("z").nothing.get(), 501, "Not Implemented", "Method 'GET /nodes/z/nothing' not implemented")
    missing = "Configuration file 'nodes/z/lxc/999.conf' does not exist"
    refused(lambda: pve.nodes("z").lxc(999).status.current.get(), 500, "Internal Server Error", missing)
    failed = (400, "Bad Request", "Parameter verification failed.")
    refused(lambda: power("lxc", 107, "stop", force=1), *failed, {"force": UNKNOWN})
    timeout = {"timeout": "type check ('integer') failed - got 'soon'"}
    refused(lambda: power("lxc", 107, "shutdown", timeout="soon"), *failed, timeout)
    refused(lambda: power("lxc", 107, "stop", skiplock=1), *failed, {"skiplock": "Only root may use this option."})
    connecting = "Errors during connection establishment, proxy handshake"
    refused(lambda: pve.nodes("w").lxc.get(), 595, connecting, "No route to host", {"errors": b""})
    refused(lambda: auditor.nodes("y").status.get(), 500, "Internal Server Error", "broken")


def tasks():
    begun = int(time.time()) - 1
    assert finish(power("lxc", 108, "start")) == "OK"
    assert finish(power("lxc", 108, "stop")) == "OK"
    assert finish(power("qemu", 105, "start")) == "OK"
    assert finish(power("qemu", 104, "shutdown", timeout=30)) == "OK"
    assert finish(power("lxc", 107, "reboot", timeout=30)) == "OK"
    assert finish(power("qemu", 106, "shutdown", timeout=0)) == "VM quit/powerdown failed - got timeout"
    assert finish(power("qemu", 106, "stop")) == "OK"
    assert finish(power("lxc", 109, "start")) == "CT is locked (backup)"
    assert finish(power("qemu", 105, "start")) == "VM 105 already running"
    broken = power("lxc", 201, "reboot", node="y")
    assert finish(broken) == "storage 'nas' is not online"
    log = pve.nodes("y").tasks(broken).log.get()
    assert Tasks.decode_log(log) == "TASK ERROR: storage 'nas' is not online"
    refused(lambda: power("lxc", 107, "start"), 500, "Internal Server Error", "CT 107 already running")
    refused(lambda: power("lxc", 108, "stop"), 500, "Internal Server Error", "CT 108 not running")
    lost = "Errors during TLS negotiation, request sending and header processing"
    refused(lambda: power("lxc", 201, "stop", node="y"), 596, lost, "Connection timed out", {"errors": b""})
    listed = pve.nodes("y").tasks.get(source="all", vmid=201, typefilter="vzstop", since=begun)
    assert [task["id"] for task in listed] == ["201"] and finish(listed[0]["upid"]) == "OK"
    failed = pve.nodes("z").tasks.get(errors=1, userfilter="void@pve", limit=2)
    assert [task["status"] for task in failed] == ["VM 105 already running", "CT is locked (backup)"]
    assert nobody.nodes("z").tasks.get() == []
    assert len(auditor.nodes("z").tasks.get(limit=500)) == 9
    refused(
        lambda: pve.nodes("z").tasks("UPID:nonsense").status.get(),
        400, "Bad Request", "Parameter verification failed.", {"upid": "unable to parse worker upid"},
    )


def trust():
    try:
        connect("actions", verify=True).version.get()
        raise AssertionError("a certificate of nobody's was trusted")
    except requests.exceptions.SSLError:
        pass


for part in (reading, rights, errors, tasks, trust):
    part()
print("every endpoint answered as Proxmox does")
