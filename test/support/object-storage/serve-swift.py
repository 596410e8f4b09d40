# OpenStack Swift with its S3 interface, all four servers in one process. Arguments: a folder on a file system
# with extended attributes, and by how many seconds its clock is ahead. Prints the port when it serves. Ends
# with its standard input.
import os
import sys
import time

folder, ahead = sys.argv[1], float(sys.argv[2])
now = time.time
time.time = lambda: now() + ahead

import eventlet

eventlet.monkey_patch()
time.time = lambda: now() + ahead



from eventlet import wsgi
from paste.deploy import loadapp
from swift.common import utils
from swift.common.ring import RingBuilder

with open(f"{folder}/swift.conf", "w") as file:
    file.write("[swift-hash]\nswift_hash_path_suffix = test\n[storage-policy:0]\nname = one\ndefault = yes\n")
utils.get_logger.console_handler4logger = {}
utils.SWIFT_CONF_FILE = f"{folder}/swift.conf"
utils.validate_hash_conf()

from swift.common import storage_policy

storage_policy.reload_storage_policies()
os.makedirs(f"{folder}/disk", exist_ok=True)

common = f"[DEFAULT]\nswift_dir = {folder}\ndevices = {folder}\nmount_check = false\ndisable_fallocate = true\nuser = {os.environ.get('USER', 'root')}\n"
sockets = {}
for kind in ["account", "container", "object"]:
    sockets[kind] = eventlet.listen(("127.0.0.1", 0))
    builder = RingBuilder(1, 1, 0)
    port = sockets[kind].getsockname()[1]
    builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": "disk", "weight": 1, "replication_ip": "127.0.0.1", "replication_port": port})
    builder.rebalance()
    builder.get_ring().save(f"{folder}/{kind}.ring.gz")
    with open(f"{folder}/{kind}.conf", "w") as file:
        file.write(f"{common}[app:main]\nuse = egg:swift#{kind}\n")

with open(f"{folder}/proxy.conf", "w") as file:
    file.write(
        common
        + "[pipeline:main]\npipeline = catch_errors gatekeeper listing_formats bulk s3api tempauth slo dlo versioned_writes proxy-server\n"
        + "[app:proxy-server]\nuse = egg:swift#proxy\naccount_autocreate = true\nallow_account_management = true\n"
        + "[filter:tempauth]\nuse = egg:swift#tempauth\nuser_test_tester = testing .admin\nuser_test_reader = reading\n"
        + "[filter:s3api]\nuse = egg:swift#s3api\nmin_segment_size = 1048576\ncheck_bucket_owner = false\n"
        + "".join(
            f"[filter:{name}]\nuse = egg:swift#{name}\n"
            for name in ["catch_errors", "gatekeeper", "listing_formats", "bulk", "slo", "dlo", "versioned_writes"]
        )
    )


class Cache:
    """What Swift uses of memcached. Nothing expires: a test is short."""

    def __init__(self):
        self.values = {}

    def get(self, key, **_):
        return self.values.get(key)

    def set(self, key, value, **_):
        self.values[key] = value

    def delete(self, key, **_):
        self.values.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.values[key] = int(self.values.get(key) or 0) + delta
        return self.values[key]


cache = Cache()


def with_cache(app):
    def serve(environ, start_response):
        environ["swift.cache"] = cache
        return app(environ, start_response)

    return serve


sockets["proxy"] = eventlet.listen(("127.0.0.1", 0))
for kind, socket in sockets.items():
    app = loadapp(f"config:{folder}/{kind}.conf")
    app = with_cache(app) if kind == "proxy" else app
    eventlet.spawn(wsgi.server, socket, app, open(f"{folder}/{kind}.log", "w"))
print(sockets["proxy"].getsockname()[1], flush=True)
eventlet.tpool.execute(sys.stdin.read)
